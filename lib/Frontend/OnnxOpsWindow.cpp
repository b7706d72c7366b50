//===- OnnxOpsWindow.cpp - ONNX convolution and pooling -------------------===//

#include "OnnxNode.h"
#include "WindowAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
static constexpr int64_t kWindowLimit = 1 << 30;

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

/// A window over the spatial dimensions, with defaults filled in and checked.
struct Window {
  SmallVector<int64_t> size, strides, dilations, low, high;
  /// Result sizes. `high` was grown to reach them if ceil_mode asks for more,
  /// by `extra`.
  SmallVector<int64_t> out, extra;

  int64_t span(unsigned d) const { return dilations[d] * (size[d] - 1) + 1; }
};

/// Padding so that the result has ceil(n / stride) elements.
void padSame(Window &window, unsigned d, int64_t n, bool upper) {
  int64_t stride = window.strides[d];
  int64_t out = (n + stride - 1) / stride;
  int64_t pad = std::max<int64_t>((out - 1) * stride + window.span(d) - n, 0);
  window.low[d] = upper ? pad / 2 : pad - pad / 2;
  window.high[d] = pad - window.low[d];
}

LogicalResult padWindow(OnnxNode &node, Window &window,
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
LogicalResult sizeWindow(OnnxNode &node, Window &window,
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

FailureOr<Window> windowOf(OnnxNode &node, ArrayRef<int64_t> size,
                           ArrayRef<int64_t> spatial) {
  size_t rank = spatial.size();
  Window window;
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

LogicalResult checkConvolution(OnnxNode &node, int64_t groups) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 5)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return node.error("its inputs have different element types");
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
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>({w[0]}))
    return node.error("the bias must have one value per output channel");
  return success();
}

LogicalResult convolution(OnnxNode &node) {
  int64_t groups = node.getInt("group", 1);
  if (failed(checkConvolution(node, groups)))
    return failure();
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  FailureOr<Window> window = windowOf(node, w.drop_front(2), x.drop_front(2));
  if (failed(window))
    return failure();
  SmallVector<int64_t> shape = {x[0], w[0]};
  llvm::append_range(shape, window->out);
  Value y = node.create<ConvolutionOp>(
      node.type(0).clone(shape), node.input(0), node.input(1), window->strides,
      window->dilations, window->low, window->high, groups);
  if (node.has(2))
    y = node.binaryAlong(BinaryKind::Add, y, node.input(2), 1);
  return node.finish(y);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

FailureOr<Window> poolWindow(OnnxNode &node) {
  if (failed(node.requireRank(0, 3, 5)))
    return failure();
  FailureOr<SmallVector<int64_t>> size =
      windowAttribute(node, "kernel_shape", node.rank(0) - 2, 1);
  if (failed(size))
    return failure();
  return windowOf(node, *size, node.shape(0).drop_front(2));
}

/// Cuts a dimension's only window to what it can reach of the input.
void trimWindow(Window &window, unsigned d, int64_t n) {
  int64_t reach = n + window.low[d];
  if (window.out[d] != 1 || reach < 1)
    return;
  window.size[d] =
      std::min(window.size[d], (reach - 1) / window.dilations[d] + 1);
  window.high[d] = std::max<int64_t>(window.span(d) - reach, 0);
}

/// The window is the whole image: pooling is a reduction.
bool isWhole(const Window &window, ArrayRef<int64_t> spatial) {
  for (unsigned d = 0; d < spatial.size(); ++d)
    if (window.out[d] != 1 || window.size[d] != spatial[d] || window.low[d] ||
        window.high[d])
      return false;
  return true;
}

Value pool(OnnxNode &node, ReduceKind kind, Window window) {
  ArrayRef<int64_t> spatial = node.shape(0).drop_front(2);
  for (unsigned d = 0; d < spatial.size(); ++d)
    trimWindow(window, d, spatial[d]);
  SmallVector<int64_t> shape(node.shape(0).take_front(2));
  llvm::append_range(shape, window.out);
  if (isWhole(window, spatial)) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
    return node.reshape(node.reduce(kind, node.input(0), dims), shape);
  }
  return node.create<PoolOp>(node.type(0).clone(shape), kind, node.input(0),
                             window.size, window.strides, window.dilations,
                             window.low, window.high);
}

LogicalResult maxPool(OnnxNode &node) {
  FailureOr<Window> window = poolWindow(node);
  if (failed(window))
    return failure();
  return node.finish(pool(node, ReduceKind::Max, *window));
}

/// How many elements each window holds along dimension d: those of the input,
/// and of its padding if that counts; never those that ceil_mode added.
SmallVector<double> countsAlong(const Window &window, unsigned d, int64_t n,
                                bool includePad) {
  int64_t first = includePad ? -window.low[d] : 0;
  int64_t last = includePad ? n + window.high[d] - window.extra[d] : n;
  SmallVector<double> counts;
  for (int64_t o = 0; o < window.out[d]; ++o) {
    int64_t at = o * window.strides[d] - window.low[d], count = 0;
    for (int64_t i = 0; i < window.size[d]; ++i, at += window.dilations[d])
      count += at >= first && at < last;
    counts.push_back(std::max<int64_t>(count, 1));
  }
  return counts;
}

/// A sum times one over the count. Counts that differ (at the border) become
/// one table per dimension.
LogicalResult averagePool(OnnxNode &node) {
  FailureOr<Window> window = poolWindow(node);
  if (failed(window) || failed(node.requireFloat(0)))
    return failure();
  Value sum = pool(node, ReduceKind::Sum, *window);
  bool includePad = node.getInt("count_include_pad", 0);
  double scale = 1;
  for (unsigned d = 0; d < window->out.size(); ++d) {
    if (window->out[d] > 1 << 20)
      return node.error("its result is too large");
    SmallVector<double> counts =
        countsAlong(*window, d, node.shape(0)[d + 2], includePad);
    if (llvm::all_equal(counts)) {
      scale *= counts.front();
      continue;
    }
    SmallVector<double> factors;
    for (double count : counts)
      factors.push_back(1 / count);
    sum =
        node.binaryAlong(BinaryKind::Mul, sum,
                         node.floats(factors, OnnxNode::elementOf(sum)), d + 2);
  }
  if (scale != 1)
    sum = node.binary(BinaryKind::Mul, sum, 1 / scale);
  return node.finish(sum);
}

template <bool average> LogicalResult globalPool(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 8)))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  SmallVector<int64_t> shape(node.rank(0), 1);
  shape[0] = node.shape(0)[0];
  shape[1] = node.shape(0)[1];
  Value y = average ? node.mean(node.input(0), dims)
                    : node.reduce(ReduceKind::Max, node.input(0), dims);
  return node.finish(node.reshape(y, shape));
}

constexpr StringLiteral kConv = "auto_pad:string dilations:ints group:int "
                                "kernel_shape:ints pads:ints strides:ints";

const OnnxOp kOps[] = {
    {"Conv", "1 11 22", 2, 3, kConv, convolution},
    {"MaxPool", "1", 1, 1,
     "auto_pad:string kernel_shape:ints! pads:ints strides:ints", maxPool},
    {"MaxPool", "8", 1, 1,
     "auto_pad:string kernel_shape:ints! pads:ints storage_order:int "
     "strides:ints",
     maxPool},
    {"MaxPool", "10 11 12 22", 1, 1,
     "auto_pad:string ceil_mode:int dilations:ints kernel_shape:ints! "
     "pads:ints storage_order:int strides:ints",
     maxPool},
    {"AveragePool", "1", 1, 1,
     "auto_pad:string kernel_shape:ints! pads:ints strides:ints", averagePool},
    {"AveragePool", "7", 1, 1,
     "auto_pad:string count_include_pad:int kernel_shape:ints! pads:ints "
     "strides:ints",
     averagePool},
    {"AveragePool", "10 11", 1, 1,
     "auto_pad:string ceil_mode:int count_include_pad:int kernel_shape:ints! "
     "pads:ints strides:ints",
     averagePool},
    {"AveragePool", "19 22", 1, 1,
     "auto_pad:string ceil_mode:int count_include_pad:int dilations:ints "
     "kernel_shape:ints! pads:ints strides:ints",
     averagePool},
    {"GlobalAveragePool", "1 22", 1, 1, "", globalPool<true>},
    {"GlobalMaxPool", "1 22", 1, 1, "", globalPool<false>},
};
} // namespace

ArrayRef<OnnxOp> windowOps() { return kOps; }

} // namespace autopar
