//===- CanonicalizeShape.cpp - Fewer movements, in one form ---------------===//

#include "Canonicalize.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

/// reshape(reshape(x)) -> reshape(x)
static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.modifyOpInPlace(
      op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

/// The reshape only adds or drops dimensions of size 1.
static bool onlyMovesUnits(ReshapeOp op) {
  auto sizes = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(
        llvm::make_filter_range(shape, [](int64_t n) { return n != 1; }));
  };
  return sizes(shapeOf(op.getInput())) == sizes(op.getType().getShape());
}

/// reshape(broadcast(x)) that moves 1s only -> broadcast(x)
static LogicalResult absorbBroadcast(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastOp>();
  if (!inner || !onlyMovesUnits(op) ||
      llvm::is_contained(shapeOf(inner.getInput()), 1))
    return failure();
  SmallVector<int64_t> from = wideDims(shapeOf(op.getInput()));
  SmallVector<int64_t> to = wideDims(op.getType().getShape()), dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(to[llvm::find(from, dim) - from.begin()]);
  Operation *merged = BroadcastOp::create(rewriter, op.getLoc(), op.getType(),
                                          inner.getInput(), dims);
  merged->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, merged);
  return success();
}

/// reshape(transpose(x)) that drops 1s only -> transpose(reshape(x))
static LogicalResult dropUnitsFirst(ReshapeOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput().getDefiningOp<TransposeOp>();
  SmallVector<int64_t> kept = wideDims(op.getType().getShape());
  if (!transpose || !onlyMovesUnits(op) ||
      kept.size() != op.getType().getShape().size())
    return failure();
  // The places of the wide dimensions in x, in their order there.
  SmallVector<int64_t> sources;
  for (int64_t dim : wideDims(shapeOf(op.getInput())))
    sources.push_back(transpose.getPerm()[dim]);
  SmallVector<int64_t> sorted = sources, shape, perm;
  llvm::sort(sorted);
  for (int64_t dim : sorted)
    shape.push_back(shapeOf(transpose.getInput())[dim]);
  for (int64_t dim : sources)
    perm.push_back(llvm::find(sorted, dim) - sorted.begin());
  auto type = RankedTensorType::get(shape, elementOf(op.getInput()));
  Value dropped =
      ReshapeOp::create(rewriter, op.getLoc(), type, transpose.getInput());
  Operation *moved = TransposeOp::create(rewriter, transpose.getLoc(),
                                         op.getType(), dropped, perm);
  moved->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, moved);
  return success();
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

/// transpose(transpose(x)) -> transpose(x)
static LogicalResult mergeTransposes(TransposeOp op,
                                     PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> perm;
  for (int64_t dim : op.getPerm())
    perm.push_back(inner.getPerm()[dim]);
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(inner.getInput());
    op.setPerm(perm);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

/// broadcast(x : 1x3) -> broadcast(reshape(x) : 3): stretching is repeating.
static LogicalResult dropUnitDims(BroadcastOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> shape, dims;
  for (auto [size, dim] : llvm::zip_equal(shapeOf(op.getInput()), op.getDims()))
    if (size != 1) {
      shape.push_back(size);
      dims.push_back(dim);
    }
  if (dims.size() == op.getDims().size())
    return failure();
  auto type = RankedTensorType::get(shape, elementOf(op.getInput()));
  Value input = ReshapeOp::create(rewriter, op.getLoc(), type, op.getInput());
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(input);
    op.setDims(dims);
  });
  return success();
}

/// broadcast(x : 3) : 1x3 -> reshape(x)
static LogicalResult broadcastToReshape(BroadcastOp op,
                                        PatternRewriter &rewriter) {
  if (op.getInput().getType().getNumElements() != op.getType().getNumElements())
    return failure();
  Operation *reshape =
      ReshapeOp::create(rewriter, op.getLoc(), op.getType(), op.getInput());
  reshape->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, reshape);
  return success();
}

/// broadcast(broadcast(x)) -> broadcast(x)
static LogicalResult mergeBroadcasts(BroadcastOp op,
                                     PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastOp>();
  if (!inner || llvm::is_contained(shapeOf(op.getInput()), 1))
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(op.getDims()[dim]);
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(inner.getInput());
    op.setDims(dims);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// slice(slice(x)) -> slice(x)
static LogicalResult mergeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> starts, steps;
  for (size_t dim = 0; dim < op.getStarts().size(); ++dim) {
    starts.push_back(inner.getStarts()[dim] +
                     op.getStarts()[dim] * inner.getSteps()[dim]);
    steps.push_back(inner.getSteps()[dim] * op.getSteps()[dim]);
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(inner.getInput());
    op.setStarts(starts);
    op.setSteps(steps);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

namespace {
/// first, first + step, first + 2*step, ...
struct Progression {
  int64_t first, step, count;
};
} // namespace

/// Constant indices that a slice can stand for; nullopt: there are none.
static std::optional<Progression> progressionOf(GatherOp op) {
  auto constant = op.getIndices().getDefiningOp<ConstantOp>();
  int64_t rows = shapeOf(op.getData())[op.getDim()];
  auto indices = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
  if (!indices || op.getOffset() || rows == 0 || indices.empty())
    return std::nullopt;
  bool isUnsigned = indices.getElementType().isUnsignedInteger();
  SmallVector<int64_t> list;
  for (const APInt &index : indices) {
    int64_t row =
        isUnsigned ? index.getLimitedValue(INT64_MAX) : index.getSExtValue();
    list.push_back(
        std::clamp<int64_t>(row < 0 ? row + rows : row, 0, rows - 1));
    int64_t step = list.size() > 1 ? list[1] - list[0] : 1;
    int64_t expected = list[0] + int64_t(list.size() - 1) * step;
    if (step == 0 || list.back() != expected)
      return std::nullopt;
  }
  int64_t step = list.size() > 1 ? list[1] - list[0] : 1;
  return Progression{list[0], step, int64_t(list.size())};
}

/// gather(x, constants a, a + d, ...) -> reshape(slice(x))
static LogicalResult gatherToSlice(GatherOp op, PatternRewriter &rewriter) {
  std::optional<Progression> rows = progressionOf(op);
  if (!rows)
    return failure();
  SmallVector<int64_t> shape(shapeOf(op.getData()));
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  shape[op.getDim()] = rows->count;
  starts[op.getDim()] = rows->first;
  steps[op.getDim()] = rows->step;
  auto type = RankedTensorType::get(shape, elementOf(op.getData()));
  Value slice =
      SliceOp::create(rewriter, op.getLoc(), type, op.getData(), starts, steps);
  Operation *result =
      ReshapeOp::create(rewriter, op.getLoc(), op.getType(), slice);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(mergeReshapes);
  patterns.add(absorbBroadcast);
  patterns.add(dropUnitsFirst);
  populateSinkPatterns(patterns);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(mergeTransposes);
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(broadcastToReshape);
  patterns.add(dropUnitDims);
  patterns.add(mergeBroadcasts);
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *) {
  patterns.add(mergeSlices);
  populateWeightPatterns(patterns);
}

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(gatherToSlice);
}

} // namespace autopar
