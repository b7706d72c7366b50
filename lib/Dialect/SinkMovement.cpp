//===- SinkMovement.cpp - Moves reshapes, transposes, broadcasts down -----===//
//
// Exporters flatten [batch, sequence, features] to call Gemm and unflatten
// after it. A flattening reshape moves down to its users until it meets its
// inverse: then batch and sequence stay dimensions of their own, which split.
// So does one that splits other dimensions too, as the heads that PyTorch joins
// with the batch, [t, b, h*d] to [t, b*h, d]: what it splits stays above.
// Transposes and broadcasts move down past elementwise ops likewise, until an
// einsum absorbs the transpose or for less work above the broadcast. Nothing
// moves up, so this ends.
//
//===----------------------------------------------------------------------===//

#include "Canonicalize.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Past elementwise ops
//===----------------------------------------------------------------------===//

static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && splatElement(constant.getValue());
}

/// `value` can be read before the flattening as well as after it.
static bool canLift(Value value, Flattening &flattening) {
  if (isSplat(value))
    return true;
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    std::optional<Flattening> own = regroupingOf(value);
    return shapeOf(reshape.getInput()) == flattening.shape() ||
           (own && own->shape() == flattening.shape());
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast && !llvm::is_contained(shapeOf(broadcast.getInput()), 1);
}

/// The form of `value` on the shape before the flattening.
static Value lift(OpBuilder &builder, Value value, Flattening &flattening) {
  if (Value splat = resplat(builder, value, flattening.shape()))
    return splat;
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return reshapeTo(builder, reshape.getLoc(), reshape.getInput(),
                     flattening.shape());
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  SmallVector<int64_t> dims, shape;
  for (int64_t dim : broadcast.getDims()) {
    llvm::append_range(dims, flattening.groups[dim]);
    llvm::append_range(shape, flattening.sizes(dim));
  }
  Location loc = broadcast.getLoc();
  Value input = reshapeTo(builder, loc, broadcast.getInput(), shape);
  return BroadcastOp::create(builder, loc, withShape(value, flattening.shape()),
                             input, dims);
}

/// unary(reshape(x)) -> reshape(unary(x)) and the like; the other operands are
/// reshapes from the same shape, broadcasts or splats.
static LogicalResult sinkReshape(Operation *op, PatternRewriter &rewriter) {
  std::optional<Flattening> flattening;
  for (Value operand : op->getOperands())
    if (!flattening)
      flattening = regroupingOf(operand);
  if (!flattening || !llvm::all_of(op->getOperands(), [&](Value operand) {
        return canLift(operand, *flattening);
      }))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lift(rewriter, operand, *flattening));
  Value result = op->getResult(0);
  Operation *sunk = cloneLocal(op, rewriter, operands,
                               withShape(result, flattening->shape()));
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, result.getType(),
                                         sunk->getResult(0));
  return success();
}

/// Both ops move their operands alike.
static bool isSameMove(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      shapeOf(a->getOperand(0)) != shapeOf(b->getOperand(0)))
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(a))
    return transpose.getPerm() == cast<TransposeOp>(b).getPerm();
  return cast<BroadcastOp>(a).getDims() == cast<BroadcastOp>(b).getDims();
}

/// `value` can be read before `move`: it is the operand of a move alike, a
/// splat, or what a broadcast repeats along dimensions that stay in their
/// order.
static bool canReadBefore(Value value, Operation *move) {
  Operation *source = value.getDefiningOp();
  if (isSplat(value) || isSameMove(move, source))
    return true;
  auto transpose = dyn_cast<TransposeOp>(move);
  auto broadcast = dyn_cast<BroadcastOp>(source);
  return transpose && broadcast && move->hasOneUse() &&
         placedDims(broadcast, transpose.getPerm());
}

static Value readBefore(OpBuilder &builder, Value value, Operation *move) {
  ArrayRef<int64_t> shape = shapeOf(move->getOperand(0));
  if (Value splat = resplat(builder, value, shape))
    return splat;
  Operation *source = value.getDefiningOp();
  if (isSameMove(move, source))
    return source->getOperand(0);
  auto broadcast = cast<BroadcastOp>(source);
  return BroadcastOp::create(
      builder, broadcast.getLoc(), withShape(value, shape),
      broadcast.getInput(),
      *placedDims(broadcast, cast<TransposeOp>(move).getPerm()));
}

/// The transpose among the operands, or else a broadcast; null where another op
/// makes one of them.
static Operation *findMove(Operation *op) {
  Operation *move = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (isSplat(operand))
      continue;
    if (!isa_and_nonnull<TransposeOp, BroadcastOp>(source))
      return nullptr;
    if (!move || isa<BroadcastOp>(move))
      move = source;
  }
  return move;
}

/// unary(transpose(x)) -> transpose(unary(x)), and so for broadcast; the other
/// operands can be read before the move. The ONNX name stays on the moved
/// value.
static LogicalResult sinkMove(Operation *op, PatternRewriter &rewriter) {
  Operation *move = findMove(op);
  if (!move || !llvm::all_of(op->getOperands(), [&](Value operand) {
        return canReadBefore(operand, move);
      }))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(readBefore(rewriter, operand, move));
  Value result = op->getResult(0);
  Operation *sunk = cloneLocal(op, rewriter, operands,
                               withShape(result, shapeOf(move->getOperand(0))));
  sunk->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  Operation *moved =
      cloneLocal(move, rewriter, sunk->getResult(0), result.getType());
  moved->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, moved);
  return success();
}

namespace {
struct SinkPastElementwise
    : OpInterfaceRewritePattern<ShardingRuleOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ShardingRuleOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    if (succeeded(sinkReshape(op, rewriter)))
      return success();
    return sinkMove(op, rewriter);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Past other ops
//===----------------------------------------------------------------------===//

/// Replaces `op` by a reshape of its copy on the unflattened operand.
template <typename OpTy>
static OpTy sink(OpTy op, Flattening &flattening, ArrayRef<int64_t> shape,
                 PatternRewriter &rewriter) {
  SmallVector<Value> operands(op->getOperands());
  operands.front() = reshapeTo(rewriter, flattening.reshape.getLoc(),
                               flattening.reshape.getInput(), flattening.from);
  Value result = op->getResult(0);
  auto sunk =
      cast<OpTy>(cloneLocal(op, rewriter, operands, withShape(result, shape)));
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, result.getType(),
                                         sunk->getResult(0));
  return sunk;
}

/// softmax or scan along a dimension that the flattening does not merge
template <typename OpTy>
static LogicalResult sinkPastDim(OpTy op, PatternRewriter &rewriter) {
  std::optional<Flattening> flattening = regroupingOf(op.getInput());
  std::optional<int64_t> dim =
      flattening ? flattening->only(op.getDim()) : std::nullopt;
  if (!dim)
    return failure();
  sink(op, *flattening, flattening->shape(), rewriter).setDim(*dim);
  return success();
}

static SmallVector<int64_t> ungroup(Flattening &flattening,
                                    ArrayRef<int64_t> dims) {
  SmallVector<int64_t> list;
  for (int64_t dim : dims)
    llvm::append_range(list, flattening.groups[dim]);
  return list;
}

static LogicalResult sinkPastNormalize(NormalizeOp op,
                                       PatternRewriter &rewriter) {
  std::optional<Flattening> flattening = regroupingOf(op.getInput());
  if (!flattening)
    return failure();
  SmallVector<int64_t> dims = ungroup(*flattening, op.getDims());
  sink(op, *flattening, flattening->shape(), rewriter).setDims(dims);
  return success();
}

static LogicalResult sinkPastReduce(ReduceOp op, PatternRewriter &rewriter) {
  std::optional<Flattening> flattening = regroupingOf(op.getInput());
  if (!flattening)
    return failure();
  SmallVector<int64_t> dims = ungroup(*flattening, op.getDims()), shape;
  for (auto [dim, size] : llvm::enumerate(flattening->shape()))
    if (!llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  sink(op, *flattening, shape, rewriter).setDims(dims);
  return success();
}

static LogicalResult sinkPastTranspose(TransposeOp op,
                                       PatternRewriter &rewriter) {
  std::optional<Flattening> flattening = regroupingOf(op.getInput());
  if (!flattening || flattening->onlyDropsUnits()) // these move up
    return failure();
  SmallVector<int64_t> perm = ungroup(*flattening, op.getPerm()), shape;
  for (int64_t dim : perm)
    shape.push_back(flattening->shape()[dim]);
  sink(op, *flattening, shape, rewriter).setPerm(perm);
  return success();
}

static LogicalResult sinkPastSlice(SliceOp op, PatternRewriter &rewriter) {
  std::optional<Flattening> flattening = regroupingOf(op.getInput());
  if (!flattening)
    return failure();
  SmallVector<int64_t> shape(flattening->shape());
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape())) {
    if (size == shapeOf(op.getInput())[dim] && op.getSteps()[dim] == 1)
      continue;
    std::optional<int64_t> from = flattening->only(dim);
    if (!from)
      return failure();
    shape[*from] = size;
    starts[*from] = op.getStarts()[dim];
    steps[*from] = op.getSteps()[dim];
  }
  SliceOp sunk = sink(op, *flattening, shape, rewriter);
  sunk.setStarts(starts);
  sunk.setSteps(steps);
  return success();
}

/// gather(x, reshape(i)) -> reshape(gather(x, i))
static LogicalResult sinkPastGather(GatherOp op, PatternRewriter &rewriter) {
  std::optional<Flattening> flattening = flatteningOf(op.getIndices());
  if (!flattening)
    return failure();
  ArrayRef<int64_t> data = shapeOf(op.getData());
  SmallVector<int64_t> shape(data.take_front(op.getDim()));
  llvm::append_range(shape, flattening->shape());
  llvm::append_range(shape, data.drop_front(op.getDim() + 1));
  SmallVector<Value> operands(op->getOperands());
  operands[1] = flattening->reshape.getInput();
  Operation *sunk =
      cloneLocal(op, rewriter, operands, withShape(op.getResult(), shape));
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), sunk->getResult(0));
  return success();
}

void populateSinkPatterns(RewritePatternSet &patterns) {
  patterns.add<SinkPastElementwise>(patterns.getContext());
  populateEinsumSinkPatterns(patterns);
  patterns.add(sinkPastDim<SoftmaxOp>);
  patterns.add(sinkPastDim<ScanOp>);
  patterns.add(sinkPastNormalize);
  patterns.add(sinkPastReduce);
  patterns.add(sinkPastTranspose);
  patterns.add(sinkPastSlice);
  patterns.add(sinkPastGather);
}

} // namespace autopar
