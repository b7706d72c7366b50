//===- AlignOperands.cpp - Sizes that fast kernels of GEMMs take ----------===//

#include "PersistentTable.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ALIGNOPERANDS
#include "autopar/Schedule/Passes.h.inc"

namespace {

/// Padding moves its operands and results once more: worth it where a GEMM
/// multiplies so often for each of their bytes. (An H100 with cuBLASLt 13.1: 95
/// TF/s without, 700 with, beside 3 TB/s.)
constexpr double kLeastFlopsPerByte = 64;
/// A smaller GEMM takes no longer than a launch, which its epilogue may then
/// cost.
constexpr double kLeastFlops = 2.5e8;

/// No input of a step reaches it.
bool isConstant(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func =
      argument ? dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp())
               : func::FuncOp();
  return func &&
         isa_and_nonnull<ParameterAttr, SetupResultAttr>(
             func.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource));
}

bool isZero(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; });
}

class Aligner {
public:
  explicit Aligner(const TargetTable &table, bool tf32)
      : table(table), tf32(tf32) {}
  void align(Operation *op);
  /// What it has made of operands.
  ArrayRef<Operation *> pads() const { return made; }

private:
  bool isWorthIt(Operation *op, const GemmGrowth &growth) const;
  Value pad(OpBuilder &builder, Location loc, Value value,
            ArrayRef<int64_t> more);

  const TargetTable &table;
  const bool tf32;
  /// Values that several GEMMs read are padded once.
  llvm::DenseMap<Value, SmallVector<std::pair<SmallVector<int64_t>, Value>, 1>>
      padded;
  SmallVector<Operation *> made;
};

} // namespace

bool Aligner::isWorthIt(Operation *op, const GemmGrowth &growth) const {
  double moved = 0;
  auto add = [&](Value value, ArrayRef<int64_t> more) {
    if (!isZero(more) && !isConstant(value))
      moved += 2.0 * double(bytesOf(value.getType()));
  };
  add(op->getOperand(0), growth.lhs);
  add(op->getOperand(1), growth.rhs);
  add(op->getResult(0), growth.result);
  double flops = cast<KernelOpInterface>(op).getFlops();
  return flops >= std::max(kLeastFlops, kLeastFlopsPerByte * moved);
}

Value Aligner::pad(OpBuilder &builder, Location loc, Value value,
                   ArrayRef<int64_t> more) {
  if (isZero(more))
    return value;
  auto &known = padded[value];
  for (auto &[by, result] : known)
    if (ArrayRef(by) == more)
      return result;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Value result = TensorBuilder(builder, loc)
                     .pad(value, SmallVector<int64_t>(more.size(), 0), more);
  known.push_back({SmallVector<int64_t>(more), result});
  made.push_back(result.getDefiningOp());
  return result;
}

/// gemm(a, b) -> slice(gemm(pad(a), pad(b)))
void Aligner::align(Operation *op) {
  if (callOf(op, table) != GroupKind::Contraction)
    return;
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (!element.isF16() && !element.isBF16() && !(element.isF32() && tf32))
    return;
  std::optional<GemmGrowth> growth =
      alignedGrowth(op, table.contraction.alignedBytes);
  if (!growth || !isWorthIt(op, *growth))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  op->setOperand(0, pad(builder, loc, op->getOperand(0), growth->lhs));
  op->setOperand(1, pad(builder, loc, op->getOperand(1), growth->rhs));
  if (isZero(growth->result))
    return;
  Value result = op->getResult(0);
  SmallVector<int64_t> shape(shapeOf(result)), larger;
  for (auto [size, more] : llvm::zip_equal(shape, growth->result))
    larger.push_back(size + more);
  result.setType(RankedTensorType::get(larger, element));
  builder.setInsertionPointAfter(op);
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  Value part = TensorBuilder(builder, loc).slice(result, zeros, shape, ones);
  Operation *slice = part.getDefiningOp();
  slice->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  result.replaceAllUsesExcept(part, slice);
}

//===----------------------------------------------------------------------===//
// Constants are padded in @setup
//===----------------------------------------------------------------------===//

namespace {
class SetupPadding {
public:
  SetupPadding(ModuleOp module, func::FuncOp step, Mesh mesh)
      : module(module), step(step), mesh(std::move(mesh)) {}
  void move(Operation *pad);

private:
  Attribute attribute(BlockArgument argument, StringRef name) {
    return step.getArgAttr(argument.getArgNumber(), name);
  }
  RankedTensorType globalType(Value padded, ShardingAttr sharding) const;
  func::FuncOp findSetup();
  Value inSetup(BlockArgument argument);
  StringAttr nameOf(BlockArgument argument);
  void replace(BlockArgument argument, Value value, RankedTensorType global);
  Value append(BlockArgument argument, Value value, RankedTensorType global);

  Operation *setupEnd() { return setup.getBody().front().getTerminator(); }

  ModuleOp module;
  func::FuncOp step, setup;
  Mesh mesh;
};
} // namespace

/// A type that the sharding cuts into the padded blocks; null: none.
RankedTensorType SetupPadding::globalType(Value padded,
                                          ShardingAttr sharding) const {
  Sharding cut = sharding.toSharding(mesh);
  SmallVector<int64_t> global;
  for (auto [size, dim] : llvm::zip_equal(shapeOf(padded), cut.dims))
    global.push_back(size * mesh.product(dim.subAxes));
  if (ArrayRef(localShape(global, cut, mesh)) != shapeOf(padded))
    return {};
  return cast<RankedTensorType>(padded.getType()).clone(global);
}

/// Makes it where there is none.
func::FuncOp SetupPadding::findSetup() {
  std::string name = ("setup_" + Twine(stageOf(step))).str();
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder builder(step);
  auto made = func::FuncOp::create(builder, step.getLoc(), name,
                                   builder.getFunctionType({}, {}));
  if (Attribute stage = step->getAttr(AutoparDialect::kStage))
    made->setAttr(AutoparDialect::kStage, stage);
  builder.setInsertionPointToEnd(made.addEntryBlock());
  func::ReturnOp::create(builder, step.getLoc());
  return made;
}

/// The same constant in @setup.
Value SetupPadding::inSetup(BlockArgument argument) {
  Attribute source = attribute(argument, AutoparDialect::kSource);
  if (auto result = dyn_cast<SetupResultAttr>(source))
    return setupEnd()->getOperand(result.getIndex());
  auto same = [&](unsigned number, StringRef name) {
    return setup.getArgAttr(number, name) == attribute(argument, name);
  };
  unsigned count = setup.getNumArguments();
  for (unsigned number = 0; number < count; ++number)
    if (same(number, AutoparDialect::kSource) &&
        same(number, AutoparDialect::kSharding))
      return setup.getArgument(number);
  (void)setup.insertArgument(count, argument.getType(),
                             step.getArgAttrDict(argument.getArgNumber()),
                             argument.getLoc());
  return setup.getArgument(count);
}

/// A name that no value of @setup has.
StringAttr SetupPadding::nameOf(BlockArgument argument) {
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < setup.getNumResults(); ++i)
    if (auto value = setup.getResultAttrOfType<SetupValueAttr>(
            i, AutoparDialect::kResult))
      taken.insert(value.getName().getValue());
  std::string base;
  Attribute source = attribute(argument, AutoparDialect::kSource);
  if (auto parameter = dyn_cast<ParameterAttr>(source))
    base = parameter.getName().str();
  else if (auto value = setup.getResultAttrOfType<SetupValueAttr>(
               cast<SetupResultAttr>(source).getIndex(),
               AutoparDialect::kResult))
    base = value.getName().str();
  std::string name = base + "/aligned";
  for (unsigned i = 1; taken.contains(name); ++i)
    name = base + "/aligned/" + std::to_string(i);
  return StringAttr::get(module.getContext(), name);
}

/// `value` takes the place of the setup value that nothing else reads.
void SetupPadding::replace(BlockArgument argument, Value value,
                           RankedTensorType global) {
  auto source =
      cast<SetupResultAttr>(attribute(argument, AutoparDialect::kSource));
  auto type = TypeAttr::get(global);
  setupEnd()->setOperand(source.getIndex(), value);
  setup.setResultAttr(source.getIndex(), AutoparDialect::kGlobalType, type);
  argument.setType(value.getType());
  step.setArgAttr(argument.getArgNumber(), AutoparDialect::kGlobalType, type);
}

/// `value` becomes a setup value beside the constant; the step's argument.
Value SetupPadding::append(BlockArgument argument, Value value,
                           RankedTensorType global) {
  Builder builder(module.getContext());
  auto entry = [&](StringRef name, Attribute what) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(name, what),
         builder.getNamedAttr(AutoparDialect::kGlobalType,
                              TypeAttr::get(global)),
         builder.getNamedAttr(AutoparDialect::kSharding,
                              attribute(argument, AutoparDialect::kSharding))});
  };
  unsigned result = setup.getNumResults(), number = step.getNumArguments();
  auto what = SetupValueAttr::get(module.getContext(), nameOf(argument));
  setupEnd()->insertOperands(result, value);
  (void)setup.insertResult(result, value.getType(),
                           entry(AutoparDialect::kResult, what));
  (void)step.insertArgument(
      number, value.getType(),
      entry(AutoparDialect::kSource,
            SetupResultAttr::get(module.getContext(), result)),
      argument.getLoc());
  return step.getArgument(number);
}

void SetupPadding::move(Operation *pad) {
  auto argument = dyn_cast<BlockArgument>(pad->getOperand(0));
  if (!argument || !isConstant(argument))
    return;
  RankedTensorType global = globalType(
      pad->getResult(0),
      cast<ShardingAttr>(attribute(argument, AutoparDialect::kSharding)));
  if (!global)
    return;
  setup = findSetup();
  OpBuilder builder(setupEnd());
  IRMapping map;
  map.map(argument, inSetup(argument));
  Value value = builder.clone(*pad, map)->getResult(0);
  Value read = argument;
  if (argument.hasOneUse() &&
      isa<SetupResultAttr>(attribute(argument, AutoparDialect::kSource)))
    replace(argument, value, global);
  else
    read = append(argument, value, global);
  pad->getResult(0).replaceAllUsesWith(read);
  pad->erase();
  if (argument.use_empty()) // a parameter that @setup alone reads now
    (void)step.eraseArgument(argument.getArgNumber());
  for (func::FuncOp func : {setup, step})
    func.setType(builder.getFunctionType(
        func.getBody().front().getArgumentTypes(),
        func.getBody().front().getTerminator()->getOperandTypes()));
}

namespace {
struct AlignOperands : impl::AlignOperandsBase<AlignOperands> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const TargetTable &table = targetTable(module);
    SmallVector<MeshOp> meshes(module.getOps<MeshOp>());
    if (table.contraction.alignedBytes == 0 || meshes.size() != 1)
      return;
    for (auto step : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (!step.getName().starts_with("step_"))
        continue;
      Aligner aligner(table, allowsTf32(module));
      for (Operation &op : llvm::make_early_inc_range(step.getBody().front()))
        aligner.align(&op);
      SetupPadding padding(module, step, meshes.front().getMesh().toMesh());
      for (Operation *pad : aligner.pads())
        padding.move(pad);
    }
  }
};
} // namespace
} // namespace autopar
