//===- CollectiveOps.cpp - What devices exchange, and positions -----------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Number of blocks along the axes; an error if the mesh lacks one.
static FailureOr<int64_t> blockCount(Operation *op, FlatSymbolRefAttr symbol,
                                     ArrayAttr axes) {
  FailureOr<Mesh> mesh = lookupMesh(op, symbol);
  if (failed(mesh))
    return failure();
  SmallVector<unsigned> subAxes;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    std::optional<SmallVector<unsigned>> found = mesh->lookup(axis);
    if (!found)
      return op->emitOpError() << "mesh " << symbol << " has no axis " << axis;
    for (unsigned subAxis : *found) {
      if (llvm::is_contained(subAxes, subAxis))
        return op->emitOpError() << "names axis " << axis << " twice";
      subAxes.push_back(subAxis);
    }
  }
  return mesh->product(subAxes);
}

namespace {
/// The two ends of a collective: tensor to result, or memref to `outs`.
struct Ends {
  ShapedType from, to;
};
} // namespace

template <typename OpTy> static FailureOr<Ends> endsOf(OpTy op) {
  auto from = cast<ShapedType>(op.getInput().getType());
  bool onTensors = isa<TensorType>(from);
  if (onTensors != bool(op.getResult()) || onTensors == bool(op.getOutput()))
    return op.emitOpError("takes a tensor and gives a result, or takes a "
                          "memref and `outs`");
  Value end = onTensors ? Value(op.getResult()) : Value(op.getOutput());
  auto to = cast<ShapedType>(end.getType());
  if (from.getElementType() != to.getElementType() ||
      from.getRank() != to.getRank())
    return op.emitOpError("must keep rank and element type");
  return Ends{from, to};
}

/// Checks that all dimensions but `except` keep their size.
static LogicalResult verifyKept(Operation *op, const Ends &ends,
                                ArrayRef<int64_t> except = {}) {
  for (int64_t dim = 0; dim < ends.from.getRank(); ++dim)
    if (!llvm::is_contained(except, dim) &&
        ends.from.getDimSize(dim) != ends.to.getDimSize(dim))
      return op->emitOpError() << "must keep the size of dimension " << dim;
  return success();
}

/// `block` is a block of `whole` elements cut into `count`.
static LogicalResult verifyBlock(Operation *op, int64_t whole, int64_t block,
                                 int64_t count) {
  if (block == ceilDiv(whole, count))
    return success();
  return op->emitOpError() << "a block of " << whole << " elements over "
                           << count << " devices has " << ceilDiv(whole, count)
                           << " elements, not " << block;
}

template <typename OpTy>
static FailureOr<int64_t> verifyCollective(OpTy op, FailureOr<Ends> &ends,
                                           ArrayRef<int64_t> dims = {}) {
  FailureOr<int64_t> count = blockCount(op, op.getMeshAttr(), op.getAxes());
  if (failed(count))
    return failure();
  ends = endsOf(op);
  if (failed(ends))
    return failure();
  for (int64_t dim : dims)
    if (failed(verifyDim(op, dim, ends->from.getRank())))
      return failure();
  if (failed(verifyKept(op, *ends, dims)))
    return failure();
  return count;
}

LogicalResult AllReduceOp::verify() {
  FailureOr<Ends> ends = failure();
  return verifyCollective(*this, ends);
}

LogicalResult AllGatherOp::verify() {
  FailureOr<Ends> ends = failure();
  int64_t dim = getDim();
  FailureOr<int64_t> count = verifyCollective(*this, ends, dim);
  if (failed(count))
    return failure();
  return verifyBlock(*this, ends->to.getDimSize(dim),
                     ends->from.getDimSize(dim), *count);
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<Ends> ends = failure();
  int64_t dim = getDim();
  FailureOr<int64_t> count = verifyCollective(*this, ends, dim);
  if (failed(count))
    return failure();
  return verifyBlock(*this, ends->from.getDimSize(dim),
                     ends->to.getDimSize(dim), *count);
}

LogicalResult AllToAllOp::verify() {
  FailureOr<Ends> ends = failure();
  int64_t split = getSplitDim(), concat = getConcatDim();
  if (split == concat)
    return emitOpError("split_dim and concat_dim must differ");
  FailureOr<int64_t> count = verifyCollective(*this, ends, {split, concat});
  if (failed(count) || failed(verifyBlock(*this, ends->from.getDimSize(split),
                                          ends->to.getDimSize(split), *count)))
    return failure();
  return verifyBlock(*this, ends->to.getDimSize(concat),
                     ends->from.getDimSize(concat), *count);
}

LogicalResult HaloOp::verify() {
  FailureOr<Ends> ends = failure();
  int64_t dim = getDim();
  FailureOr<int64_t> count = verifyCollective(*this, ends, dim);
  if (failed(count))
    return failure();
  if (int64_t(getStep()) < 0)
    return emitOpError("step must not be negative");
  return verifyBlock(*this, getSize(), ends->from.getDimSize(dim), *count);
}

LogicalResult CollectiveBroadcastOp::verify() {
  FailureOr<Ends> ends = failure();
  FailureOr<int64_t> count = verifyCollective(*this, ends);
  if (failed(count))
    return failure();
  if (int64_t root = getRoot(); root < 0 || root >= *count)
    return emitOpError() << "root " << root << " is none of the " << *count
                         << " devices along its axes, 0 to " << *count - 1;
  return success();
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

template <typename OpTy>
static FailureOr<int64_t> verifyPosition(OpTy op, ArrayRef<int64_t> dims) {
  FailureOr<int64_t> count = blockCount(op, op.getMeshAttr(), op.getAxes());
  if (failed(count))
    return failure();
  Ends ends{op.getInput().getType(), op.getType()};
  if (ends.from.getElementType() != ends.to.getElementType() ||
      ends.from.getRank() != ends.to.getRank())
    return op.emitOpError("must keep rank and element type");
  for (int64_t dim : dims)
    if (failed(verifyDim(op, dim, ends.from.getRank())))
      return failure();
  if (failed(verifyKept(op, ends, dims)))
    return failure();
  return count;
}

LogicalResult SliceBlockOp::verify() {
  int64_t dim = getDim();
  FailureOr<int64_t> count = verifyPosition(*this, dim);
  if (failed(count))
    return failure();
  return verifyBlock(*this, getInput().getType().getDimSize(dim),
                     getType().getDimSize(dim), *count);
}

LogicalResult MaskOp::verify() {
  FailureOr<int64_t> count = verifyPosition(*this, {});
  if (failed(count) || failed(verifyDim(*this, getDim(), getType().getRank())))
    return failure();
  return verifyBlock(*this, getSize(), getType().getDimSize(getDim()), *count);
}

LogicalResult KeepFirstOp::verify() { return verifyPosition(*this, {}); }

LogicalResult BlockOffsetOp::verify() {
  if (getType().getRank() != 0)
    return emitOpError("result must be a scalar, tensor<i64>");
  if (int64_t(getBlock()) < 0)
    return emitOpError("block must not be negative");
  return blockCount(*this, getMeshAttr(), getAxes());
}

void BlockOffsetOp::build(OpBuilder &builder, OperationState &state,
                          const Localization &localization, unsigned factor) {
  SmallVector<std::string> names =
      localization.mesh.spell(localization.subAxes(factor));
  SmallVector<StringRef> axes(names.begin(), names.end());
  build(builder, state, RankedTensorType::get({}, builder.getI64Type()),
        localization.meshSymbol, builder.getStrArrayAttr(axes),
        builder.getI64IntegerAttr(localization.block(factor)));
}

//===----------------------------------------------------------------------===//
// Classes and effects
//===----------------------------------------------------------------------===//

KernelClass SendOp::getKernelClass() { return KernelClass::Communication; }
KernelClass RecvOp::getKernelClass() { return KernelClass::Communication; }
KernelClass SliceBlockOp::getKernelClass() { return KernelClass::Movement; }
KernelClass MaskOp::getKernelClass() { return KernelClass::Elementwise; }
KernelClass KeepFirstOp::getKernelClass() { return KernelClass::Elementwise; }
KernelClass BlockOffsetOp::getKernelClass() { return KernelClass::None; }

LoopRole BlockOffsetOp::getLoopRole() { return LoopRole::Source; }

bool MaskOp::roundsResult() { return false; }

bool KeepFirstOp::roundsResult() { return false; }

void collectiveEffects(Operation *op, Effects &effects) {
  if (!isa<BaseMemRefType>(op->getOperand(0).getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &op->getOpOperand(0));
  for (OpOperand &written : op->getOpOperands().drop_front())
    effects.emplace_back(MemoryEffects::Write::get(), &written);
}

//===----------------------------------------------------------------------===//
// Between stages
//===----------------------------------------------------------------------===//

/// Messages of a channel are ordered: neither merged, dropped nor swapped.
static void channelEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void SendOp::getEffects(Effects &effects) { channelEffects(effects); }
void RecvOp::getEffects(Effects &effects) { channelEffects(effects); }

LogicalResult RecvOp::verify() {
  if (bool(getResult()) == bool(getOutput()))
    return emitOpError("gives a result or takes `outs`");
  return success();
}

} // namespace autopar
