//===- CheckEquality.cpp - Proves that local programs compute the whole ---===//
//
// Walks the local functions, setup before step and earlier stages first, and
// derives what each local value holds of the kept global program. Every
// returned value must hold the global result that it is declared to be.
//
//===----------------------------------------------------------------------===//

#include "CheckCompute.h"
#include "CheckMessages.h"
#include "GlobalProgram.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Equality/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_CHECKEQUALITY
#include "autopar/Equality/Passes.h.inc"
} // namespace autopar

using namespace autopar;

namespace {

class EqualityChecker {
public:
  explicit EqualityChecker(ModuleOp module) : module(module) {}

  LogicalResult run() {
    if (failed(program.read(module)))
      return failure();
    decomposeAsClaimed();
    for (func::FuncOp function : localFunctions())
      if (failed(checkFunction(function)))
        return failure();
    return checkAllSaid();
  }

  /// Removes the claims and the copies, since the proof is done.
  void removeClaims() {
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (function->hasAttr(AutoparDialect::kKept)) {
        function.erase();
        continue;
      }
      function.walk([](Operation *op) {
        op->removeAttr(AutoparDialect::kOrigin);
        op->removeAttr(AutoparDialect::kStrategy);
      });
    }
  }

private:
  SmallVector<func::FuncOp> localFunctions();
  void decomposeAsClaimed();

  LogicalResult checkFunction(func::FuncOp function);
  FailureOr<Sharding> readSharding(func::FuncOp function, Attribute attribute,
                                   Type globalType, const Twine &what);
  FailureOr<Attribute> globalSource(func::FuncOp function, unsigned index);
  LogicalResult checkArgument(func::FuncOp function, BlockArgument argument);
  LogicalResult checkOp(Operation *op);
  LogicalResult checkComputeOp(Operation *op);
  LogicalResult checkMessage(Operation *op);
  LogicalResult checkReturn(func::FuncOp function, func::ReturnOp op);
  LogicalResult checkReturned(func::FuncOp function, func::ReturnOp op,
                              unsigned index);
  LogicalResult checkOnce(func::FuncOp function, func::ReturnOp op,
                          unsigned index, Attribute result);
  LogicalResult checkAllSaid();
  const HeldValue *heldBy(Operation *op, unsigned operand);

  static StringRef wholeName(func::FuncOp function) {
    return function.getName().rsplit('_').first;
  }

  ModuleOp module;
  GlobalProgram program;
  const GlobalFunction *current = nullptr; // the function's kept original
  HeldValues held;
  Messages messages;
  DenseMap<std::pair<Attribute, int64_t>, Operation *> returned;
};

} // namespace

/// Setup before step, as steps read what setups give; earlier stages first.
SmallVector<func::FuncOp> EqualityChecker::localFunctions() {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr(AutoparDialect::kKept))
      functions.push_back(function);
  llvm::stable_sort(functions, [](func::FuncOp a, func::FuncOp b) {
    if (wholeName(a) != wholeName(b))
      return wholeName(a) < wholeName(b);
    return stageOf(a) < stageOf(b);
  });
  return functions;
}

/// Local ops that claim to be parts of a composite are compared with the parts
/// that the composite's own definition makes.
void EqualityChecker::decomposeAsClaimed() {
  for (func::FuncOp function : localFunctions())
    for (Operation &op : function.getBody().front())
      if (auto origin =
              op.getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kOrigin))
        program.decomposeFor(origin);
}

FailureOr<Sharding> EqualityChecker::readSharding(func::FuncOp function,
                                                  Attribute attribute,
                                                  Type globalType,
                                                  const Twine &what) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
  auto type = dyn_cast<RankedTensorType>(globalType);
  if (!sharding || !type || sharding.getMesh() != program.symbol ||
      int64_t(sharding.getDims().size()) != type.getRank())
    return function.emitError()
           << what << " has no " << AutoparDialect::kSharding << " on mesh "
           << program.symbol << " of the rank of " << globalType;
  for (DimShardingAttr dim : sharding.getDims())
    if (dim.getHasInterval())
      return function.emitError()
             << what << " is an interval: values enter and leave as blocks";
  return sharding.toSharding(program.mesh);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult EqualityChecker::checkFunction(func::FuncOp function) {
  current = program.find(wholeName(function));
  if (!current)
    return function.emitError("is of no function of the global program");
  // Steps and setups are paired by stage where they run, by name here.
  int64_t stage = stageOf(function);
  if (function.getName().rsplit('_').second != std::to_string(stage))
    return function.emitError() << "is of stage " << stage << ": it must be @"
                                << wholeName(function) << "_" << stage;
  for (BlockArgument argument : function.getArguments())
    if (failed(checkArgument(function, argument)))
      return failure();
  for (Operation &op : function.getBody().front())
    if (failed(checkOp(&op)))
      return failure();
  return success();
}

/// The source of an argument in the global program: a stage counts the results
/// of its own setup.
FailureOr<Attribute> EqualityChecker::globalSource(func::FuncOp function,
                                                   unsigned index) {
  Attribute source = function.getArgAttr(index, AutoparDialect::kSource);
  auto setupResult = dyn_cast_or_null<SetupResultAttr>(source);
  if (!setupResult)
    return source;
  auto setup = module.lookupSymbol<func::FuncOp>(
      ("setup_" + Twine(stageOf(function))).str());
  const GlobalFunction *global = program.find("setup");
  int64_t position = setupResult.getIndex();
  if (!setup || !global || position < 0 || position >= setup.getNumResults())
    return function.emitError() << "argument " << index << " is " << source
                                << ", which this stage's setup does not give";
  if (setup.getResultAttr(position, AutoparDialect::kSharding) !=
      function.getArgAttr(index, AutoparDialect::kSharding))
    return function.emitError()
           << "argument " << index << " is not sharded as setup result "
           << position << " is: give both one sharding";
  auto result = global->results.find(
      setup.getResultAttr(position, AutoparDialect::kResult));
  if (result == global->results.end())
    return function.emitError() << "argument " << index << " is " << source
                                << ", which @setup does not give";
  return Attribute(SetupResultAttr::get(module.getContext(), result->second));
}

LogicalResult EqualityChecker::checkArgument(func::FuncOp function,
                                             BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  std::string what = ("argument " + Twine(index)).str();
  FailureOr<Attribute> source = globalSource(function, index);
  if (failed(source))
    return failure();
  auto it =
      *source ? current->arguments.find(*source) : current->arguments.end();
  if (it == current->arguments.end())
    return function.emitError()
           << what << " is no argument of the global program";
  func::FuncOp whole = current->function;
  Value global = whole.getArgument(it->second);
  FailureOr<Sharding> sharding = readSharding(
      function, function.getArgAttr(index, AutoparDialect::kSharding),
      global.getType(), what);
  if (failed(sharding))
    return failure();
  if (!isa<SetupResultAttr>(*source) && !sharding->partial.empty())
    return function.emitError() << what
                                << " is partial: what is read comes "
                                   "in blocks";
  bool oncePerStep = isa<InputAttr>(*source);
  for (auto [subAxis, info] : llvm::enumerate(program.mesh.subAxes()))
    if (info.time && !oncePerStep && sharding->usesSubAxis(subAxis))
      return function.emitError()
             << what << " is split over micro-batches, but is there once";
  HeldValue value = HeldValue::of(global, *sharding);
  if (argument.getType() != value.localType(program.mesh) ||
      function.getArgAttr(index, AutoparDialect::kGlobalType) !=
          TypeAttr::get(global.getType()))
    return function.emitError()
           << what << " must be " << value.localType(program.mesh) << ", of "
           << global.getType() << " sharded "
           << toString(*sharding, program.mesh);
  held[argument] = std::move(value);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

const HeldValue *EqualityChecker::heldBy(Operation *op, unsigned operand) {
  if (operand < op->getNumOperands())
    if (auto it = held.find(op->getOperand(operand)); it != held.end())
      return &it->second;
  op->emitError() << "operand " << operand
                  << " holds no value of the global program";
  return nullptr;
}

LogicalResult EqualityChecker::checkOp(Operation *op) {
  if (isa<ShardingRuleOpInterface>(op))
    return checkComputeOp(op);
  if (isa<BlockOffsetOp>(op)) // holds a position; its readers look at it
    return success();
  if (isa<SendOp, RecvOp>(op))
    return checkMessage(op);
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return checkReturn(op->getParentOfType<func::FuncOp>(), ret);
  if (op->getNumOperands() != 1)
    return op->emitError("is not an op of a local program");
  const HeldValue *input = heldBy(op, 0);
  if (!input)
    return failure();
  FailureOr<HeldValue> result =
      applyStructural(op, *input, program.mesh, program.symbol);
  if (failed(result))
    return failure();
  held[op->getResult(0)] = std::move(*result);
  return success();
}

LogicalResult EqualityChecker::checkComputeOp(Operation *op) {
  auto global = dyn_cast_or_null<ShardingRuleOpInterface>(program.lookup(
      op->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kOrigin)));
  if (!global || global->getParentOp() != current->function)
    return op->emitError() << "node '" << nodeName(op->getLoc())
                           << "' stems from no op of the global program";
  if (failed(checkCompute(op, global, program, held)))
    return failure();
  if (wholeName(op->getParentOfType<func::FuncOp>()) == "setup")
    for (Value result : op->getResults())
      for (auto [subAxis, info] : llvm::enumerate(program.mesh.subAxes()))
        if (info.time && held[result].usesSubAxis(subAxis))
          return op->emitError("is split over micro-batches: setup runs once");
  return success();
}

LogicalResult EqualityChecker::checkMessage(Operation *op) {
  if (wholeName(op->getParentOfType<func::FuncOp>()) == "setup")
    return op->emitError("setup sends nothing: each stage's setup computes "
                         "what its own step reads");
  if (auto send = dyn_cast<SendOp>(op)) {
    const HeldValue *value = heldBy(send, 0);
    return value ? messages.send(send, *value) : failure();
  }
  FailureOr<HeldValue> value = messages.receive(cast<RecvOp>(op));
  if (failed(value))
    return failure();
  held[op->getResult(0)] = std::move(*value);
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult EqualityChecker::checkReturn(func::FuncOp function,
                                           func::ReturnOp op) {
  for (unsigned i = 0; i < op.getNumOperands(); ++i)
    if (failed(checkReturned(function, op, i)))
      return failure();
  return success();
}

LogicalResult EqualityChecker::checkReturned(func::FuncOp function,
                                             func::ReturnOp op,
                                             unsigned index) {
  std::string what = ("result " + Twine(index)).str();
  Attribute result = function.getResultAttr(index, AutoparDialect::kResult);
  auto it = result ? current->results.find(result) : current->results.end();
  if (it == current->results.end())
    return op.emitError() << what << " is no result of the global program";
  const HeldValue *value = heldBy(op, index);
  if (!value || failed(checkOnce(function, op, index, result)))
    return failure();
  Value global = current->result(it->second);
  if (value->global != global) {
    auto error = op.emitError() << what << " is not " << result;
    error.attachNote(value->global.getLoc()) << "it holds this value";
    error.attachNote(global.getLoc()) << "it must hold this value";
    return error;
  }
  FailureOr<Sharding> want = readSharding(
      function, function.getResultAttr(index, AutoparDialect::kSharding),
      global.getType(), what);
  if (failed(want))
    return failure();
  if (value->sharding() != *want) {
    auto error = op.emitError()
                 << what << " is sharded "
                 << toString(value->sharding(), program.mesh)
                 << ", but is declared to be " << toString(*want, program.mesh)
                 << ": reshard it first";
    noteOrigin(error, op.getOperand(index), "the value is made here");
    return error;
  }
  if (isa<OutputAttr, GradientAttr>(result) && !want->partial.empty())
    return op.emitError() << what << " is partial: the user gets whole values";
  if (function.getResultAttr(index, AutoparDialect::kGlobalType) !=
      TypeAttr::get(global.getType()))
    return op.emitError() << what << " has not the global type "
                          << global.getType();
  return success();
}

/// An output is given by one stage; a setup value once in each stage.
LogicalResult EqualityChecker::checkOnce(func::FuncOp function,
                                         func::ReturnOp op, unsigned index,
                                         Attribute result) {
  int64_t stage = isa<OutputAttr, GradientAttr>(result) ? 0 : stageOf(function);
  auto [it, isNew] = returned.try_emplace({result, stage}, op);
  if (isNew)
    return success();
  auto error = op.emitError()
               << "result " << index << " (" << result << ") is returned twice";
  error.attachNote(it->second->getLoc()) << "the first return is here";
  return error;
}

/// Checks that every message is received and no output is missing.
LogicalResult EqualityChecker::checkAllSaid() {
  if (failed(messages.checkAllReceived()))
    return failure();
  const GlobalFunction *step = program.find("step");
  if (!step)
    return success();
  func::FuncOp whole = step->function;
  for (unsigned i = 0; i < whole.getNumResults(); ++i) {
    Attribute result = whole.getResultAttr(i, AutoparDialect::kResult);
    if (isa<OutputAttr, GradientAttr, NextStateAttr>(result) &&
        !returned.contains({result, 0}))
      return module.emitError() << "no stage returns " << result;
  }
  return success();
}

namespace {
struct CheckEquality : autopar::impl::CheckEqualityBase<CheckEquality> {
  void runOnOperation() final {
    EqualityChecker checker(getOperation());
    if (failed(checker.run()))
      return signalPassFailure();
    checker.removeClaims();
  }
};
} // namespace
