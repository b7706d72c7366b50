//===- CanonicalizeShape.cpp - Fewer movements, in one form ---------------===//

#include "OpHelpers.h"
#include "mlir/IR/PatternMatch.h"

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

/// The row that constant indices of one element name; nullopt: none is known.
static std::optional<int64_t> constantRow(GatherOp op) {
  auto constant = op.getIndices().getDefiningOp<ConstantOp>();
  if (!constant || op.getOffset() ||
      op.getIndices().getType().getNumElements() != 1)
    return std::nullopt;
  auto index = dyn_cast_or_null<IntegerAttr>(splatElement(constant.getValue()));
  int64_t rows = shapeOf(op.getData())[op.getDim()];
  if (!index || rows == 0)
    return std::nullopt;
  APInt value = index.getValue();
  int64_t row = index.getType().isUnsignedInteger() ? value.getZExtValue()
                                                    : value.getSExtValue();
  if (row < 0)
    row += rows;
  return std::clamp<int64_t>(row, 0, rows - 1);
}

/// gather(x, constant i) -> reshape(slice(x))
static LogicalResult gatherToSlice(GatherOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> row = constantRow(op);
  if (!row)
    return failure();
  SmallVector<int64_t> shape(shapeOf(op.getData()));
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  shape[op.getDim()] = 1;
  starts[op.getDim()] = *row;
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
// convolution
//===----------------------------------------------------------------------===//

/// convolution(pad(x, 0)) -> convolution(x) that pads, so that the spatial
/// dimensions split.
static LogicalResult absorbPad(ConvolutionOp op, PatternRewriter &rewriter) {
  auto pad = op.getInput().getDefiningOp<PadOp>();
  if (!pad || !pad.getValue().isZero())
    return failure();
  auto none = [](ArrayRef<int64_t> channels) {
    return channels[0] == 0 && channels[1] == 0;
  };
  if (!none(pad.getLow()) || !none(pad.getHigh()))
    return failure();
  SmallVector<int64_t> low(op.getPadLow()), high(op.getPadHigh());
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] += pad.getLow()[i + 2];
    high[i] += pad.getHigh()[i + 2];
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(pad.getInput());
    op.setPadLow(low);
    op.setPadHigh(high);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void populateSinkPatterns(RewritePatternSet &patterns); // SinkMovement.cpp

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(mergeReshapes);
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
}

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(gatherToSlice);
}

void ConvolutionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *) {
  patterns.add(absorbPad);
}

} // namespace autopar
