//===- Dialect.cpp - The autopar dialect ----------------------------------===//

#include "autopar/Dialect/Dialect.h"
#include "OpHelpers.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/MapVector.h"

#include "autopar/Dialect/Dialect.cpp.inc"

using namespace mlir;

namespace autopar {

namespace {
/// Every op may be inlined: functions exist for setup, step and stages only.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void AutoparDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "autopar/Dialect/Ops.cpp.inc"
      >();
  registerAttributes();
  addInterfaces<Inliner>();
}

Operation *AutoparDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

FailureOr<Mesh> lookupMesh(Operation *from, FlatSymbolRefAttr symbol) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(from, symbol);
  if (!mesh)
    return from->emitError() << "there is no autopar.mesh " << symbol;
  return mesh.getMesh().toMesh();
}

StringRef nodeName(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc)) // most are, and a walk costs
    return named.getName();
  StringRef name;
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}

//===----------------------------------------------------------------------===//
// Attributes by name
//===----------------------------------------------------------------------===//

/// The axes of a strategy or sharding on `op` exist in its mesh, none twice:
/// also not as a whole and as a part.
static LogicalResult verifyAxes(Operation *op, FlatSymbolRefAttr symbol,
                                ArrayRef<StringAttr> axes) {
  FailureOr<Mesh> mesh = lookupMesh(op, symbol);
  if (failed(mesh))
    return failure();
  SmallVector<bool> used(mesh->subAxes().size());
  for (StringAttr axis : axes) {
    std::optional<SmallVector<unsigned>> subAxes = mesh->lookup(axis);
    if (!subAxes)
      return op->emitError() << "mesh " << symbol << " has no axis " << axis;
    for (unsigned subAxis : *subAxes)
      if (std::exchange(used[subAxis], true))
        return op->emitError() << "axis \"" << mesh->subAxes()[subAxis].name
                               << "\" is used twice";
  }
  return success();
}

LogicalResult verifySharding(Operation *op, StringRef name, Attribute attribute,
                             Type type) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
  if (!sharding)
    return op->emitError() << name << " must hold #autopar.sharding";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != int64_t(sharding.getDims().size()))
    return op->emitError() << name << " has " << sharding.getDims().size()
                           << " dimensions for a value of type " << type;
  SmallVector<StringAttr> axes;
  for (DimShardingAttr dim : sharding.getDims())
    llvm::append_range(axes, dim.getAxes());
  for (PartialAttr partial : sharding.getPartial())
    axes.push_back(partial.getAxis());
  return verifyAxes(op, sharding.getMesh(), axes);
}

static bool isStepList(Attribute attribute) {
  auto steps = dyn_cast<ArrayAttr>(attribute);
  return steps && llvm::all_of(steps, llvm::IsaPred<ReshardStepAttr>);
}

/// Checks that `attribute` holds a list of steps for each of `count` values.
static LogicalResult verifyStepLists(Operation *op, NamedAttribute attribute,
                                     size_t count) {
  auto lists = dyn_cast<ArrayAttr>(attribute.getValue());
  if (lists && lists.size() == count && llvm::all_of(lists, isStepList))
    return success();
  return op->emitError() << attribute.getName().strref()
                         << " must hold one array of #autopar.reshard_step for "
                            "each of "
                         << count << " values";
}

/// Checks that the attribute has numbers of operands of `op`, ascending.
static LogicalResult verifyRegathers(Operation *op, Attribute attribute) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute);
  int64_t before = -1;
  for (int64_t number : numbers ? numbers.asArrayRef() : ArrayRef<int64_t>()) {
    if (number <= before || number >= int64_t(op->getNumOperands())) {
      numbers = nullptr;
      break;
    }
    before = number;
  }
  if (numbers && !numbers.empty())
    return success();
  return op->emitError() << AutoparDialect::kRegathers
                         << " must hold numbers of operands, ascending";
}

/// Checks that the value of an attribute is of the attribute's kind.
static LogicalResult verifyKind(Operation *op, NamedAttribute attribute) {
  struct Kind {
    StringRef name;
    bool (*isOfKind)(Attribute);
    StringRef kind;
  };
  using D = AutoparDialect;
  auto isString = [](Attribute value) { return isa<StringAttr>(value); };
  auto isInteger = [](Attribute value) { return isa<IntegerAttr>(value); };
  auto isUnit = [](Attribute value) { return isa<UnitAttr>(value); };
  auto isTask = [](Attribute value) { return isa<TaskAttr>(value); };
  auto isDictionary = [](Attribute value) {
    return isa<DictionaryAttr>(value);
  };
  static const Kind table[] = {
      {D::kModel, isString, "a string"},
      {D::kTarget, isString, "a string"},
      {D::kCpu, isString, "a string"},
      {D::kEntry, isString, "a string"},
      {D::kPrecision, isString, "a string"},
      {D::kCountedRows, isString, "a string"},
      {D::kDescription, isString, "a string"},
      {D::kStage, isInteger, "an integer"},
      {D::kStages, isInteger, "an integer"},
      {D::kScheduleSteps, isInteger, "an integer"},
      {D::kCheckNumerics, isUnit, "a unit"},
      {D::kNarrowGradientSums, isUnit, "a unit"},
      {D::kPadded, isUnit, "a unit"},
      {D::kTask, isTask, "#autopar.task"},
      {D::kRegather, isInteger, "an integer"},
      {D::kTrainedStates, isDictionary, "a dictionary"},
      {D::kHashes, isDictionary, "a dictionary"},
      {D::kModuleTensors, isDictionary, "a dictionary"},
      {D::kStateOutputs, isDictionary, "a dictionary"},
      {D::kMetrics, isDictionary, "a dictionary"},
      {D::kRequest, isDictionary, "a dictionary"},
      {D::kPlan, isDictionary, "a dictionary"}};
  for (const Kind &row : table)
    if (attribute.getName() == row.name && !row.isOfKind(attribute.getValue()))
      return op->emitError() << row.name << " must be " << row.kind;
  return success();
}

LogicalResult
AutoparDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  if (attribute.getName() == kStrategy) {
    auto strategy = dyn_cast<StrategyAttr>(attribute.getValue());
    if (!strategy)
      return op->emitError() << kStrategy << " must be #autopar.strategy";
    return verifyAxes(op, strategy.getMesh(), strategy.getAxes());
  }
  if (attribute.getName() == kNames) {
    auto names = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return op->emitError() << kNames << " must be an array of strings";
    return success();
  }
  if (attribute.getName() == kOperandSteps)
    return verifyStepLists(op, attribute, op->getNumOperands());
  if (attribute.getName() == kResultSteps)
    return verifyStepLists(op, attribute, op->getNumResults());
  if (attribute.getName() == kRegathers)
    return verifyRegathers(op, attribute.getValue());
  if (attribute.getName() == kPadded) {
    auto kernel = dyn_cast<KernelOpInterface>(op);
    if (!kernel || kernel.getKernelClass() != KernelClass::Contraction)
      return op->emitError() << kPadded << " is for matrix multiplications";
  }
  if (failed(verifyKind(op, attribute)))
    return failure();
  if (attribute.getName() != kShardings)
    return verifyRows(op, attribute);
  auto shardings = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!shardings || shardings.size() != op->getNumResults())
    return op->emitError() << kShardings
                           << " must hold one sharding per result";
  for (auto [sharding, type] : llvm::zip_equal(shardings, op->getResultTypes()))
    if (failed(verifySharding(op, kShardings, sharding, type)))
      return failure();
  return success();
}

SmallVector<StatePair> statesOf(FunctionOpInterface function) {
  llvm::DenseMap<Attribute, unsigned> results;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (auto next = function.getResultAttrOfType<NextStateAttr>(
            result, AutoparDialect::kResult))
      results[next] = result;
  SmallVector<StatePair> states;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (auto state = function.getArgAttrOfType<StateAttr>(
            index, AutoparDialect::kSource))
      if (auto it = results.find(state.next()); it != results.end())
        states.push_back({index, it->second});
  return states;
}

/// The results that are the next value of a state.
using NextStates = llvm::MapVector<NextStateAttr, SmallVector<unsigned, 1>>;

static LogicalResult verifyState(FunctionOpInterface function,
                                 unsigned argument, StateAttr state,
                                 const NextStates &next) {
  StringAttr name = state.getName();
  const auto *found = next.find(state.next());
  if (found == next.end() || found->second.size() != 1)
    return function->emitError()
           << "state " << name << " must have one result that is "
           << state.next();
  unsigned result = found->second.front();
  Type type = function.getArgumentTypes()[argument],
       nextType = function.getResultTypes()[result];
  if (type != nextType)
    return function->emitError() << "state " << name << " is " << type
                                 << ", but its next value " << nextType;
  Attribute sharding = function.getArgAttr(argument, AutoparDialect::kSharding);
  if (sharding != function.getResultAttr(result, AutoparDialect::kSharding))
    return function->emitError()
           << "state " << name << " and its next value are sharded unlike";
  return success();
}

/// Each state has one next value, and each next value one state.
static LogicalResult verifyStates(FunctionOpInterface function) {
  NextStates next;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (auto attr = function.getResultAttrOfType<NextStateAttr>(
            result, AutoparDialect::kResult))
      next[attr].push_back(result);
  llvm::DenseSet<NextStateAttr> known;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto state =
        function.getArgAttrOfType<StateAttr>(index, AutoparDialect::kSource);
    if (!state)
      continue;
    if (!known.insert(state.next()).second)
      return function->emitError()
             << "has two states that are called " << state.getName();
    if (failed(verifyState(function, index, state, next)))
      return failure();
  }
  for (const auto &[attr, results] : next)
    if (!known.contains(attr))
      return function->emitError()
             << "has no state " << attr.getName() << " for a next value";
  return success();
}

/// Returns whether no argument before this one is a state.
static bool isFirstState(FunctionOpInterface function, unsigned argument) {
  for (unsigned index = 0; index < argument; ++index)
    if (isa_and_nonnull<StateAttr>(
            function.getArgAttr(index, AutoparDialect::kSource)))
      return false;
  return true;
}

/// Returns whether no result before this one is a state's next value.
static bool isFirstNext(FunctionOpInterface function, unsigned result) {
  for (unsigned index = 0; index < result; ++index)
    if (isa_and_nonnull<NextStateAttr>(
            function.getResultAttr(index, AutoparDialect::kResult)))
      return false;
  return true;
}

/// Attributes of an argument or result of a function.
static LogicalResult
verifySignatureAttribute(Operation *op, NamedAttribute attribute, Type type) {
  if (attribute.getName() == AutoparDialect::kSharding)
    return verifySharding(op, AutoparDialect::kSharding, attribute.getValue(),
                          type);
  if (attribute.getName() == AutoparDialect::kGlobalType) {
    auto global = dyn_cast<TypeAttr>(attribute.getValue());
    if (!global || !isa<RankedTensorType>(global.getValue()))
      return op->emitError()
             << AutoparDialect::kGlobalType << " must be a tensor type";
  }
  return success();
}

LogicalResult
AutoparDialect::verifyRegionArgAttribute(Operation *op, unsigned region,
                                         unsigned argument,
                                         NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  if (attribute.getName() == kSource && isa<StateAttr>(attribute.getValue()) &&
      isFirstState(function, argument) && failed(verifyStates(function)))
    return failure();
  if (attribute.getName() == kGiven && !isa<ElementsAttr>(attribute.getValue()))
    return op->emitError() << kGiven << " must be elements";
  return verifySignatureAttribute(op, attribute,
                                  function.getArgumentTypes()[argument]);
}

LogicalResult AutoparDialect::verifyRegionResultAttribute(
    Operation *op, unsigned region, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  if (attribute.getName() == kResult &&
      isa<NextStateAttr>(attribute.getValue()) &&
      isFirstNext(function, result) && failed(verifyStates(function)))
    return failure();
  if (attribute.getName() == kSteps && !isStepList(attribute.getValue()))
    return op->emitError() << kSteps
                           << " must be an array of #autopar.reshard_step";
  return verifySignatureAttribute(op, attribute,
                                  function.getResultTypes()[result]);
}

} // namespace autopar
