//===- AlignOperands.cpp - Sizes that fast kernels of GEMMs take ----------===//

#include "SetupPadding.h"
#include "autopar/Cost/GemmPadding.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Planning/PlannedModule.h"
#include "autopar/Schedule/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ALIGNOPERANDS
#include "autopar/Schedule/Passes.h.inc"

static bool isZero(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; });
}

static SmallVector<int64_t> larger(Value value, ArrayRef<int64_t> more) {
  SmallVector<int64_t> shape(shapeOf(value));
  for (auto [size, by] : llvm::zip_equal(shape, more))
    size += by;
  return shape;
}

/// Returns the growth that aligns the rows of a GEMM of local types.
static std::optional<GemmSizes> growthOf(Operation *op, int64_t bytes) {
  auto sizes = [](Value value) { return SmallVector<int64_t>(shapeOf(value)); };
  return alignedGrowth(cast<ShardingRuleOpInterface>(op).getShardingRule(),
                       {sizes(op->getOperand(0)), sizes(op->getOperand(1)),
                        sizes(op->getResult(0))},
                       elementBytes(getElementTypeOrSelf(op->getResult(0))),
                       bytes);
}

namespace {
class Aligner {
public:
  explicit Aligner(int64_t bytes) : bytes(bytes) {}
  void align(Operation *op);
  /// The pads that it has made of operands.
  ArrayRef<Operation *> pads() const { return made; }

private:
  Value pad(OpBuilder &builder, Location loc, Value value,
            ArrayRef<int64_t> more);

  const int64_t bytes; // of which rows become multiples
  /// The padded forms of each value, so that a value that several GEMMs read is
  /// padded once.
  llvm::DenseMap<Value, SmallVector<std::pair<SmallVector<int64_t>, Value>, 1>>
      padded;
  SmallVector<Operation *> made;
};
} // namespace

Value Aligner::pad(OpBuilder &builder, Location loc, Value value,
                   ArrayRef<int64_t> more) {
  if (isZero(more))
    return value;
  for (auto &[by, known] : padded[value])
    if (ArrayRef(by) == more)
      return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Value result = TensorBuilder(builder, loc)
                     .pad(value, SmallVector<int64_t>(more.size(), 0), more);
  padded[value].push_back({SmallVector<int64_t>(more), result});
  made.push_back(result.getDefiningOp());
  return result;
}

/// gemm(a, b) -> slice(gemm(pad(a), pad(b)))
void Aligner::align(Operation *op) {
  op->removeDiscardableAttr(AutoparDialect::kPadded);
  std::optional<GemmSizes> growth = growthOf(op, bytes);
  if (!growth)
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  op->setOperand(0, pad(builder, loc, op->getOperand(0), growth->lhs));
  op->setOperand(1, pad(builder, loc, op->getOperand(1), growth->rhs));
  if (isZero(growth->result))
    return;
  Value result = op->getResult(0);
  Type element = getElementTypeOrSelf(result);
  SmallVector<int64_t> shape(shapeOf(result));
  result.setType(
      RankedTensorType::get(larger(result, growth->result), element));
  builder.setInsertionPointAfter(op);
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  Value part = TensorBuilder(builder, loc).slice(result, zeros, shape, ones);
  Operation *slice = part.getDefiningOp();
  slice->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->removeDiscardableAttr(AutoparDialect::kNames);
  result.replaceAllUsesExcept(part, slice);
}

static SmallVector<Operation *> paddedGemms(func::FuncOp step) {
  SmallVector<Operation *> gemms;
  for (Operation &op : step.getBody().front())
    if (op.hasAttr(AutoparDialect::kPadded))
      gemms.push_back(&op);
  return gemms;
}

static void alignStep(ModuleOp module, func::FuncOp step, const Mesh &mesh) {
  Aligner aligner(targetTable(module).gemmBytes());
  for (Operation *gemm : paddedGemms(step))
    aligner.align(gemm);
  SetupPadding padding(module, step, mesh);
  for (Operation *pad : aligner.pads())
    padding.move(pad);
}

namespace {
struct AlignOperands : impl::AlignOperandsBase<AlignOperands> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> steps;
    for (auto func : module.getOps<func::FuncOp>())
      if (isStep(func) && !paddedGemms(func).empty())
        steps.push_back(func);
    if (steps.empty() || targetTable(module).gemmBytes() == 0)
      return;
    FailureOr<PlannedModule> planned = PlannedModule::read(module);
    if (failed(planned))
      return signalPassFailure();
    for (func::FuncOp step : steps)
      alignStep(module, step, planned->mesh);
  }
};
} // namespace
} // namespace autopar
