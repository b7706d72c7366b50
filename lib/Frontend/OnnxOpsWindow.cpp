//===- OnnxOpsWindow.cpp - ONNX convolution -------------------------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"
#include "WindowAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
FailureOr<SmallVector<int64_t>> windowAttribute(OnnxNode &node, StringRef name,
                                                size_t count,
                                                int64_t byDefault) {
  SmallVector<int64_t> values = node.getInts(name);
  if (!node.hasAttribute(name))
    values.assign(count, byDefault);
  if (values.size() != count)
    return node.error("attribute '" + name + "' has " + Twine(values.size()) +
                      " entries, not " + Twine(count));
  for (int64_t value : values)
    if (value < byDefault || value > kWindowLimit)
      return node.error("attribute '" + name + "' holds " + Twine(value));
  return values;
}

namespace {

/// Padding so that the result has ceil(n / stride) elements.
void padSame(WindowSpec &window, unsigned d, int64_t n, bool upper) {
  int64_t stride = window.strides[d];
  int64_t out = (n + stride - 1) / stride;
  int64_t pad = std::max<int64_t>((out - 1) * stride + window.span(d) - n, 0);
  window.low[d] = upper ? pad / 2 : pad - pad / 2;
  window.high[d] = pad - window.low[d];
}

LogicalResult padWindow(OnnxNode &node, WindowSpec &window,
                        ArrayRef<int64_t> spatial) {
  size_t rank = spatial.size();
  StringRef mode = node.getString("auto_pad", "NOTSET");
  FailureOr<SmallVector<int64_t>> pads =
      windowAttribute(node, "pads", 2 * rank, 0);
  if (failed(pads))
    return failure();
  if (mode == "NOTSET" || mode.empty()) {
    window.low.assign(pads->begin(), pads->begin() + rank);
    window.high.assign(pads->begin() + rank, pads->end());
    return success();
  }
  window.low.assign(rank, 0);
  window.high.assign(rank, 0);
  if (mode == "VALID")
    return success();
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return node.error("unknown value '" + mode +
                      "' of auto_pad (known: "
                      "NOTSET, SAME_UPPER, SAME_LOWER, VALID)");
  for (unsigned d = 0; d < rank; ++d)
    padSame(window, d, spatial[d], mode == "SAME_UPPER");
  return success();
}

/// Result sizes; with ceil_mode a last, partial window counts if it begins
/// within the input or its low padding.
LogicalResult sizeWindow(OnnxNode &node, WindowSpec &window,
                         ArrayRef<int64_t> spatial) {
  bool ceil = node.getInt("ceil_mode", 0);
  for (unsigned d = 0; d < spatial.size(); ++d) {
    int64_t n = spatial[d], stride = window.strides[d];
    int64_t room = n + window.low[d] + window.high[d] - window.span(d);
    int64_t steps = ceil ? llvm::divideCeilSigned(room, stride)
                         : llvm::divideFloorSigned(room, stride);
    if (ceil && steps > 0 && steps * stride >= n + window.low[d])
      --steps;
    if (steps < 0)
      return node.error("the window of size " + Twine(window.span(d)) +
                        " is larger than the padded input of dimension " +
                        Twine(d + 2));
    window.out.push_back(steps + 1);
    window.extra.push_back(std::max<int64_t>(steps * stride - room, 0));
    window.high[d] += window.extra.back();
  }
  return success();
}

} // namespace

FailureOr<WindowSpec> windowOf(OnnxNode &node, ArrayRef<int64_t> size,
                               ArrayRef<int64_t> spatial) {
  size_t rank = spatial.size();
  WindowSpec window;
  window.size.assign(size.begin(), size.end());
  FailureOr<SmallVector<int64_t>> strides =
      windowAttribute(node, "strides", rank, 1);
  FailureOr<SmallVector<int64_t>> dilations =
      windowAttribute(node, "dilations", rank, 1);
  if (failed(strides) || failed(dilations))
    return failure();
  window.strides = *strides;
  window.dilations = *dilations;
  for (unsigned d = 0; d < rank; ++d)
    if (size[d] < 1 || size[d] > kWindowLimit ||
        window.dilations[d] > kWindowLimit / size[d])
      return node.error("the window's size " + Twine(size[d]) +
                        " or dilation is out of range");
  if (failed(padWindow(node, window, spatial)) ||
      failed(sizeWindow(node, window, spatial)))
    return failure();
  return window;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

LogicalResult checkFilter(OnnxNode &node, ArrayRef<int64_t> x,
                          ArrayRef<int64_t> w, int64_t groups) {
  if (groups < 1 || groups > w[0] || w[0] % groups)
    return node.error("group " + Twine(groups) + " does not divide the " +
                      Twine(w[0]) + " output channels");
  if (w[1] > kWindowLimit || x[1] != w[1] * groups)
    return node.error("the input has " + Twine(x[1]) +
                      " channels, the filter takes " + Twine(w[1]) + " in " +
                      Twine(groups) + " groups");
  if (node.hasAttribute("kernel_shape") &&
      ArrayRef<int64_t>(node.getInts("kernel_shape")) != w.drop_front(2))
    return node.error("kernel_shape differs from the filter's shape");
  return success();
}

LogicalResult checkBias(OnnxNode &node, unsigned i, int64_t channels) {
  if (node.has(i) && node.shape(i) != ArrayRef<int64_t>({channels}))
    return node.error("the bias must have one value per output channel");
  return success();
}

Value convolve(OnnxNode &node, Value x, Value w, const WindowSpec &window,
               int64_t groups) {
  SmallVector<int64_t> shape = {OnnxNode::shapeOf(x)[0],
                                OnnxNode::shapeOf(w)[0]};
  llvm::append_range(shape, window.out);
  return node.create<ConvolutionOp>(OnnxNode::typeOf(x).clone(shape), x, w,
                                    window.strides, window.dilations,
                                    window.low, window.high, groups);
}

namespace {

LogicalResult checkConvolution(OnnxNode &node, int64_t groups) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 5)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return differentElements(node, 0, i);
  if (failed(checkFilter(node, node.shape(0), node.shape(1), groups)))
    return failure();
  return checkBias(node, 2, node.shape(1)[0]);
}

LogicalResult convolution(OnnxNode &node) {
  int64_t groups = node.getInt("group", 1);
  if (failed(checkConvolution(node, groups)))
    return failure();
  FailureOr<WindowSpec> window =
      windowOf(node, node.shape(1).drop_front(2), node.shape(0).drop_front(2));
  if (failed(window))
    return failure();
  Value y = convolve(node, node.input(0), node.input(1), *window, groups);
  if (node.has(2))
    y = node.binaryAlong(BinaryKind::Add, y, node.input(2), 1);
  return node.finish(y);
}

constexpr StringLiteral kConv = "auto_pad:string dilations:ints group:int "
                                "kernel_shape:ints pads:ints strides:ints";

const OnnxOp kOps[] = {
    {"Conv", "1 11 22", 2, 3, kConv, convolution},
};
} // namespace

ArrayRef<OnnxOp> windowOps() { return kOps; }

} // namespace autopar
