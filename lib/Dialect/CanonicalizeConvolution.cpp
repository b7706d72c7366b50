//===- CanonicalizeConvolution.cpp - Windows on small images --------------===//

#include "Canonicalize.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Padding
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
// Windows that are larger than the image
//===----------------------------------------------------------------------===//

namespace {
/// Positions of a window at its ends that read padding for every result.
struct IdleEnds {
  int64_t low = 0, high = 0;
};
} // namespace

static IdleEnds idleEnds(ConvolutionOp op, size_t i) {
  int64_t image = shapeOf(op.getInput())[i + 2];
  int64_t window = shapeOf(op.getFilter())[i + 2];
  int64_t last = op.getType().getShape()[i + 2] - 1;
  int64_t stride = op.getStrides()[i], dilation = op.getDilations()[i];
  int64_t padLow = op.getPadLow()[i], padHigh = op.getPadHigh()[i];
  IdleEnds ends;
  // An idle low position reads before the image even for the last result, and
  // an idle high position reads behind it even for the first.
  while (ends.low + 1 < window && padLow >= (ends.low + 1) * dilation &&
         last * stride + ends.low * dilation - padLow < 0)
    ++ends.low;
  while (ends.low + ends.high + 1 < window &&
         padHigh >= (ends.high + 1) * dilation &&
         (window - 1 - ends.high) * dilation - padLow >= image)
    ++ends.high;
  return ends;
}

/// A filter of 3x3 on an image of 1x1 with padding 1 -> its middle alone.
static LogicalResult dropIdlePositions(ConvolutionOp op,
                                       PatternRewriter &rewriter) {
  SmallVector<int64_t> window(shapeOf(op.getFilter()));
  SmallVector<int64_t> starts(window.size(), 0), steps(window.size(), 1);
  SmallVector<int64_t> low(op.getPadLow()), high(op.getPadHigh());
  if (op.getType().getNumElements() == 0)
    return failure();
  bool found = false;
  for (size_t i = 0; i < low.size(); ++i) {
    IdleEnds ends = idleEnds(op, i);
    found |= ends.low + ends.high > 0;
    starts[i + 2] = ends.low;
    window[i + 2] -= ends.low + ends.high;
    low[i] -= ends.low * op.getDilations()[i];
    high[i] -= ends.high * op.getDilations()[i];
  }
  if (!found)
    return failure();
  Value filter =
      SliceOp::create(rewriter, op.getLoc(), withShape(op.getFilter(), window),
                      op.getFilter(), starts, steps);
  rewriter.modifyOpInPlace(op, [&] {
    op.getFilterMutable().assign(filter);
    op.setPadLow(low);
    op.setPadHigh(high);
  });
  return success();
}

static bool isOnePosition(ConvolutionOp op) {
  auto ones = [](Value value) {
    return llvm::all_of(shapeOf(value).drop_front(2),
                        [](int64_t size) { return size == 1; });
  };
  return ones(op.getInput()) && ones(op.getFilter()) && ones(op.getResult()) &&
         llvm::all_of(op.getPadLow(), [](int64_t pad) { return pad == 0; });
}

/// A window of one position on an image of one -> a matrix multiplication
/// of the channels, one for each group.
static LogicalResult onePositionToEinsum(ConvolutionOp op,
                                         PatternRewriter &rewriter) {
  if (!isOnePosition(op))
    return failure();
  Location loc = op.getLoc();
  int64_t images = shapeOf(op.getInput())[0], groups = op.getGroups();
  int64_t outputs = shapeOf(op.getFilter())[0];
  int64_t inGroup = shapeOf(op.getFilter())[1];
  auto reshaped = [&](Value value, ArrayRef<int64_t> shape) {
    return reshapeTo(rewriter, loc, value, shape);
  };
  Value einsum;
  if (groups == 1) {
    Value x = reshaped(op.getInput(), {images, inGroup});
    Value w = reshaped(op.getFilter(), {outputs, inGroup});
    einsum = EinsumOp::create(rewriter, loc, withShape(x, {images, outputs}),
                              "nc,oc->no", x, w);
  } else {
    Value x = reshaped(op.getInput(), {images, groups, inGroup});
    Value w = reshaped(op.getFilter(), {groups, outputs / groups, inGroup});
    einsum = EinsumOp::create(rewriter, loc,
                              withShape(x, {images, groups, outputs / groups}),
                              "ngc,goc->ngo", x, w);
  }
  Operation *result = ReshapeOp::create(rewriter, loc, op.getType(), einsum);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, result);
  return success();
}

void ConvolutionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *) {
  patterns.add(absorbPad);
  patterns.add(dropIdlePositions);
  patterns.add(onePositionToEinsum);
}

} // namespace autopar
