//===- CanonicalizeWeights.cpp - Moves work from activations to weights ---===//
//
// An op that follows a contraction and touches only one of its free dimensions
// can be applied to the weight instead. No input reaches the weight, so that
// the op moves to @setup. Packed projections (query, key and value in one
// matrix) come apart, so that each splits along its own columns; batch norm
// scales fold into the filter.
//
//===----------------------------------------------------------------------===//

#include "Canonicalize.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace autopar {

/// Ops looked at when asking where a weight comes from.
static constexpr unsigned kMaxWeightOps = 16;
/// Slices of one value, and elementwise ops between them and a contraction.
static constexpr unsigned kMaxSlices = 16, kMaxDepth = 4;

/// `argument` is a parameter, or computed by @setup.
static bool isWeight(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return false;
  Attribute source =
      function.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource);
  return isa_and_nonnull<ParameterAttr, SetupResultAttr>(source);
}

/// No input reaches `value`, as far as a short look tells.
static bool isStatic(Value value) {
  SmallVector<Value> rest{value};
  for (unsigned seen = 0; !rest.empty(); ++seen) {
    if (seen == kMaxWeightOps)
      return false;
    Value next = rest.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (!isWeight(argument))
        return false;
      continue;
    }
    llvm::append_range(rest, next.getDefiningOp()->getOperands());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Returns whether all users of `value` are slices of disjoint parts of
/// dimension `dim`.
static bool isPacked(Value value, int64_t dim) {
  SmallVector<std::pair<int64_t, int64_t>> parts;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.cutDim() != dim || parts.size() == kMaxSlices)
      return false;
    int64_t start = slice.getStarts()[dim];
    parts.push_back({start, start + slice.getType().getDimSize(dim)});
  }
  llvm::sort(parts);
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].first < parts[i - 1].second)
      return false;
  return true;
}

namespace {
/// A dimension of a weight that is a free dimension of an einsum's result.
struct WeightDim {
  unsigned operand;
  int64_t dim;
};
} // namespace

static std::optional<WeightDim> weightDim(EinsumOp einsum, int64_t dim) {
  char letter = einsum.getResultLetters()[dim];
  size_t left = einsum.getLhsLetters().find(letter);
  size_t right = einsum.getRhsLetters().find(letter);
  bool onLeft = left != StringRef::npos, onRight = right != StringRef::npos;
  if (onLeft == onRight)
    return std::nullopt;
  WeightDim found{onRight, int64_t(onRight ? right : left)};
  if (!isStatic(einsum->getOperand(found.operand)))
    return std::nullopt;
  return found;
}

/// Elementwise ops lead from `value` to a contraction whose weight makes `dim`;
/// what joins on the way is made of weights or broadcast.
static bool comesFromWeight(Value value, int64_t dim, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (auto einsum = dyn_cast_or_null<EinsumOp>(op))
    return weightDim(einsum, dim).has_value();
  if (!isElementwise(op) || depth == kMaxDepth)
    return false;
  bool found = false;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (isa_and_nonnull<BroadcastOp, ConstantOp>(source))
      continue;
    if (!operand.hasOneUse() || !comesFromWeight(operand, dim, depth + 1))
      return false;
    found = true;
  }
  return found;
}

static Value sliceDim(OpBuilder &builder, Value value, int64_t dim,
                      int64_t start, int64_t size) {
  SmallVector<int64_t> shape(shapeOf(value));
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  shape[dim] = size;
  starts[dim] = start;
  return SliceOp::create(builder, value.getLoc(),
                         RankedTensorType::get(shape, elementOf(value)), value,
                         starts, steps);
}

/// Replaces a slice by the op before it on sliced operands. The ONNX name of
/// the slice is the new op's.
static LogicalResult replaceSlice(SliceOp slice, Operation *op,
                                  ValueRange operands,
                                  PatternRewriter &rewriter) {
  Operation *sliced = cloneLocal(op, rewriter, operands, slice.getType());
  sliced->setDiscardableAttrs(slice->getDiscardableAttrDictionary());
  rewriter.replaceOp(slice, sliced);
  return success();
}

/// Operands of `op` that give the part of its result that a slice takes.
static SmallVector<Value> sliceOperands(Operation *op, int64_t dim,
                                        int64_t start, int64_t size,
                                        OpBuilder &builder) {
  SmallVector<Value> operands(op->getOperands());
  if (auto einsum = dyn_cast<EinsumOp>(op)) {
    WeightDim weight = *weightDim(einsum, dim);
    Value &operand = operands[weight.operand];
    operand = sliceDim(builder, operand, weight.dim, start, size);
    return operands;
  }
  for (Value &operand : operands)
    operand = sliceDim(builder, operand, dim, start, size);
  return operands;
}

/// slice(einsum(x, w)) -> einsum(x, slice(w)), also past a bias, where slices
/// are all that is made of the einsum. All of them at once: between, the einsum
/// has other uses.
static LogicalResult unpackProjection(SliceOp slice,
                                      PatternRewriter &rewriter) {
  Operation *op = slice.getInput().getDefiningOp();
  std::optional<int64_t> dim = slice.cutDim();
  if (!op || !dim || (!isElementwise(op) && !isa<EinsumOp>(op)) ||
      !isPacked(slice.getInput(), *dim) ||
      !comesFromWeight(slice.getInput(), *dim, 0))
    return failure();
  SmallVector<SliceOp> parts;
  for (Operation *user : op->getUsers())
    parts.push_back(cast<SliceOp>(user));
  llvm::sort(parts, [&](SliceOp a, SliceOp b) {
    return a.getStarts()[*dim] < b.getStarts()[*dim];
  });
  rewriter.setInsertionPoint(op);
  for (SliceOp part : parts) {
    SmallVector<Value> operands =
        sliceOperands(op, *dim, part.getStarts()[*dim],
                      part.getType().getDimSize(*dim), rewriter);
    (void)replaceSlice(part, op, operands, rewriter);
  }
  rewriter.eraseOp(op);
  return success();
}

/// slice(broadcast(x)) -> broadcast(slice(x)): what repeats is not cut.
static LogicalResult hoistPastBroadcast(SliceOp slice,
                                        PatternRewriter &rewriter) {
  auto broadcast = slice.getInput().getDefiningOp<BroadcastOp>();
  if (!broadcast || llvm::is_contained(shapeOf(broadcast.getInput()), 1))
    return failure();
  SmallVector<int64_t> shape, starts, steps;
  for (int64_t dim : broadcast.getDims()) {
    shape.push_back(slice.getType().getDimSize(dim));
    starts.push_back(slice.getStarts()[dim]);
    steps.push_back(slice.getSteps()[dim]);
  }
  Value input = broadcast.getInput();
  auto type = RankedTensorType::get(shape, elementOf(input));
  Value sliced =
      SliceOp::create(rewriter, slice.getLoc(), type, input, starts, steps);
  return replaceSlice(slice, broadcast, sliced, rewriter);
}

/// slice(transpose(x)) -> transpose(slice(x))
static LogicalResult hoistPastTranspose(SliceOp slice,
                                        PatternRewriter &rewriter) {
  auto transpose = slice.getInput().getDefiningOp<TransposeOp>();
  if (!transpose)
    return failure();
  size_t rank = transpose.getPerm().size();
  SmallVector<int64_t> shape(rank), starts(rank), steps(rank);
  for (auto [to, from] : llvm::enumerate(transpose.getPerm())) {
    shape[from] = slice.getType().getDimSize(to);
    starts[from] = slice.getStarts()[to];
    steps[from] = slice.getSteps()[to];
  }
  Value input = transpose.getInput();
  auto type = RankedTensorType::get(shape, elementOf(input));
  Value sliced =
      SliceOp::create(rewriter, slice.getLoc(), type, input, starts, steps);
  return replaceSlice(slice, transpose, sliced, rewriter);
}

/// The operand dimension of a reshape of which result dimension `dim` is the
/// major part, with the same elements before both; nullopt: there is none.
static std::optional<int64_t> majorSource(ReshapeOp reshape, int64_t dim) {
  int64_t before = 1, passed = 1;
  for (int64_t size : reshape.getType().getShape().take_front(dim))
    before *= size;
  int64_t part = reshape.getType().getDimSize(dim);
  for (auto [from, size] : llvm::enumerate(shapeOf(reshape.getInput()))) {
    if (passed == before && size != 1)
      return size % part == 0 ? std::optional<int64_t>(from) : std::nullopt;
    passed *= size;
  }
  return std::nullopt;
}

/// slice(reshape(x : 3*h) : 3, h) -> reshape(slice(x)), where the cut dimension
/// is the major part of one of x's: its blocks are contiguous there.
static LogicalResult hoistPastReshape(SliceOp slice,
                                      PatternRewriter &rewriter) {
  auto reshape = slice.getInput().getDefiningOp<ReshapeOp>();
  std::optional<int64_t> dim = slice.cutDim();
  if (!reshape || !dim || reshape.getType().getNumElements() == 0)
    return failure();
  std::optional<int64_t> from = majorSource(reshape, *dim);
  if (!from)
    return failure();
  Value input = reshape.getInput();
  int64_t inner = shapeOf(input)[*from] / shapeOf(slice.getInput())[*dim];
  Value sliced =
      sliceDim(rewriter, input, *from, slice.getStarts()[*dim] * inner,
               slice.getType().getDimSize(*dim) * inner);
  return replaceSlice(slice, reshape, sliced, rewriter);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// convolution(x, w) * broadcast(s over channels) -> convolution(x, w * s)
static LogicalResult foldScale(BinaryOp op, PatternRewriter &rewriter) {
  if (op.getKind() != BinaryKind::Mul)
    return failure();
  Value left = op.getLhs(), right = op.getRhs();
  if (!left.getDefiningOp<ConvolutionOp>())
    std::swap(left, right);
  auto convolution = left.getDefiningOp<ConvolutionOp>();
  auto scale = right.getDefiningOp<BroadcastOp>();
  if (!convolution || !convolution->hasOneUse() || !scale ||
      scale.getDims() != ArrayRef<int64_t>{1} ||
      shapeOf(scale.getInput())[0] != op.getType().getDimSize(1) ||
      !isStatic(scale.getInput()) || !isStatic(convolution.getFilter()))
    return failure();
  Value filter = convolution.getFilter();
  int64_t outputs = 0;
  Value scales = BroadcastOp::create(rewriter, scale.getLoc(), filter.getType(),
                                     scale.getInput(), outputs);
  Value scaled =
      BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, filter, scales);
  Operation *folded = cloneLocal(
      convolution, rewriter, {convolution.getInput(), scaled}, op.getType());
  folded->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, folded);
  return success();
}

void populateWeightPatterns(RewritePatternSet &patterns) {
  patterns.add(unpackProjection);
  patterns.add(hoistPastBroadcast);
  patterns.add(hoistPastTranspose);
  patterns.add(hoistPastReshape);
  patterns.add(foldScale);
}

} // namespace autopar
