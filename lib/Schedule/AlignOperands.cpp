//===- AlignOperands.cpp - Sizes that fast kernels of GEMMs take ----------===//

#include "PersistentTable.h"
#include "SetupPadding.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Planning/WritePlan.h"
#include "autopar/Schedule/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ALIGNOPERANDS
#include "autopar/Schedule/Passes.h.inc"

/// The least multiplications per byte for which padding is worth it. Padding
/// moves operands and results once more, and the epilogue becomes a kernel
/// beside the GEMM. (On an H100 with cuBLASLt 13.1 a GEMM reaches 95 TF/s
/// without padding and 700 TF/s with it, beside 3 TB/s of memory.)
static constexpr double kLeastFlopsPerByte = 64;
/// The least multiplications of a GEMM that is padded: a smaller one takes no
/// longer than the launch of the kernel of its epilogue.
static constexpr double kLeastFlops = 2.5e8;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// The bytes that a device of a stage holds by the plan, and those that it may
/// hold.
class StageMemory {
public:
  StageMemory(ModuleOp module, int64_t stage) : module(module), stage(stage) {}
  LogicalResult read();

  /// Returns whether a GEMM fits beside the bytes taken so far, and if so takes
  /// its bytes: `constants` stay, `others` are there while it runs. This is an
  /// estimate: padded constants count beside the constants that they may
  /// replace, and pads that a later GEMM reads too count only until the first
  /// GEMM has run.
  bool take(int64_t constants, int64_t others);
  /// Adds the bytes taken to the plan.
  void write();

private:
  DictionaryAttr plan() {
    return module->getAttrOfType<DictionaryAttr>(AutoparDialect::kPlan);
  }

  ModuleOp module;
  int64_t stage;
  std::optional<int64_t> room; // none: no limit is known
  int64_t taken = 0, most = 0;
};
} // namespace

static ArrayAttr predictedBytes(DictionaryAttr plan) {
  return plan ? plan.getAs<ArrayAttr>("predicted_stage_memory_bytes")
              : ArrayAttr();
}

static IntegerAttr ofStage(ArrayAttr bytes, int64_t stage) {
  return bytes && stage < int64_t(bytes.size())
             ? dyn_cast<IntegerAttr>(bytes[stage])
             : IntegerAttr();
}

LogicalResult StageMemory::read() {
  IntegerAttr predicted = ofStage(predictedBytes(plan()), stage);
  if (!predicted)
    return success();
  FailureOr<int64_t> limit = plannedMemoryLimit(module, stage);
  if (failed(limit))
    return failure();
  if (*limit)
    room = *limit - predicted.getInt();
  return success();
}

bool StageMemory::take(int64_t constants, int64_t others) {
  int64_t whole = std::max(taken + constants + others, most + constants);
  if (room && whole > *room)
    return false;
  taken += constants;
  most = whole;
  return true;
}

void StageMemory::write() {
  ArrayAttr bytes = predictedBytes(plan());
  IntegerAttr predicted = ofStage(bytes, stage);
  if (!predicted || most == 0)
    return;
  Builder builder(module.getContext());
  SmallVector<Attribute> stages(bytes.getValue());
  stages[stage] = builder.getI64IntegerAttr(predicted.getInt() + most);
  int64_t peak = 0;
  for (int64_t i = 0; i < int64_t(stages.size()); ++i)
    if (IntegerAttr one = ofStage(builder.getArrayAttr(stages), i))
      peak = std::max(peak, one.getInt());
  NamedAttrList fields(plan());
  fields.set("predicted_stage_memory_bytes", builder.getArrayAttr(stages));
  fields.set("predicted_peak_memory_bytes", builder.getI64IntegerAttr(peak));
  module->setAttr(AutoparDialect::kPlan,
                  fields.getDictionary(module.getContext()));
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

static bool isZero(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; });
}

static SmallVector<int64_t> larger(Value value, ArrayRef<int64_t> more) {
  SmallVector<int64_t> shape(shapeOf(value));
  for (auto [size, by] : llvm::zip_equal(shape, more))
    size += by;
  return shape;
}

namespace {
class Aligner {
public:
  Aligner(const TargetTable &table, bool tf32, StageMemory &memory)
      : table(table), tf32(tf32), memory(memory) {}
  void align(Operation *op);
  /// The pads that it has made of operands.
  ArrayRef<Operation *> pads() const { return made; }

private:
  bool isWorthIt(Operation *op, const GemmGrowth &growth);
  Value pad(OpBuilder &builder, Location loc, Value value,
            ArrayRef<int64_t> more);
  Value *findPad(Value value, ArrayRef<int64_t> more);

  const TargetTable &table;
  const bool tf32;
  StageMemory &memory;
  /// The padded forms of each value, so that a value that several GEMMs read is
  /// padded once.
  llvm::DenseMap<Value, SmallVector<std::pair<SmallVector<int64_t>, Value>, 1>>
      padded;
  SmallVector<Operation *> made;
};
} // namespace

Value *Aligner::findPad(Value value, ArrayRef<int64_t> more) {
  for (auto &[by, result] : padded[value])
    if (ArrayRef(by) == more)
      return &result;
  return nullptr;
}

/// Returns whether the GEMM multiplies enough for the bytes that it moves, and
/// there is memory for the padding.
bool Aligner::isWorthIt(Operation *op, const GemmGrowth &growth) {
  double moved = 0;
  int64_t constants = 0, others = 0;
  auto add = [&](Value value, ArrayRef<int64_t> more, bool isResult) {
    if (isZero(more) || (!isResult && findPad(value, more)))
      return;
    auto type = cast<RankedTensorType>(value.getType());
    int64_t bytes = bytesOf(type.clone(larger(value, more)));
    bool isConstant = !isResult && constantOf(value);
    (isConstant ? constants : others) += bytes;
    moved += isConstant ? 0 : 2.0 * double(bytes);
  };
  add(op->getOperand(0), growth.lhs, false);
  add(op->getOperand(1), growth.rhs, false);
  add(op->getResult(0), growth.result, true);
  double flops = cast<KernelOpInterface>(op).getFlops();
  return flops >= std::max(kLeastFlops, kLeastFlopsPerByte * moved) &&
         memory.take(constants, others);
}

Value Aligner::pad(OpBuilder &builder, Location loc, Value value,
                   ArrayRef<int64_t> more) {
  if (isZero(more))
    return value;
  if (Value *known = findPad(value, more))
    return *known;
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
  std::optional<CallKind> call = callOf(op, table);
  if (!call)
    return;
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (!element.isF16() && !element.isBF16() && !(element.isF32() && tf32))
    return;
  std::optional<GemmGrowth> growth =
      alignedGrowth(op, table.calls(*call)->alignedBytes);
  if (!growth || !isWorthIt(op, *growth))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  op->setOperand(0, pad(builder, loc, op->getOperand(0), growth->lhs));
  op->setOperand(1, pad(builder, loc, op->getOperand(1), growth->rhs));
  if (isZero(growth->result))
    return;
  Value result = op->getResult(0);
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

static LogicalResult alignStep(ModuleOp module, func::FuncOp step,
                               const Mesh &mesh) {
  StageMemory memory(module, stageOf(step));
  if (failed(memory.read()))
    return failure();
  Aligner aligner(targetTable(module), allowsTf32(module), memory);
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front()))
    aligner.align(&op);
  SetupPadding padding(module, step, mesh);
  for (Operation *pad : aligner.pads())
    padding.move(pad);
  memory.write();
  return success();
}

namespace {
struct AlignOperands : impl::AlignOperandsBase<AlignOperands> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<MeshOp> meshes(module.getOps<MeshOp>());
    if (!targetTable(module).alignsRows() || meshes.size() != 1)
      return;
    Mesh mesh = meshes.front().getMesh().toMesh();
    for (auto step : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (isStep(step) && failed(alignStep(module, step, mesh)))
        return signalPassFailure();
  }
};
} // namespace
} // namespace autopar
