//===- OnnxOpsPool.cpp - ONNX pooling -------------------------------------===//

#include "Norms.h"
#include "OnnxNode.h"
#include "WindowAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

FailureOr<WindowSpec> poolWindow(OnnxNode &node) {
  if (failed(node.requireRank(0, 3, 5)))
    return failure();
  FailureOr<SmallVector<int64_t>> size =
      windowAttribute(node, "kernel_shape", node.rank(0) - 2, 1);
  if (failed(size))
    return failure();
  return windowOf(node, *size, node.shape(0).drop_front(2));
}

/// Cuts a dimension's only window to what it can reach of the input. Its
/// elements may end before the input does; the stride then is so large that no
/// other window begins.
void trimWindow(WindowSpec &window, unsigned d, int64_t n) {
  int64_t reach = n + window.low[d];
  if (window.out[d] != 1 || reach < 1)
    return;
  window.size[d] =
      std::min(window.size[d], (reach - 1) / window.dilations[d] + 1);
  int64_t span = window.span(d);
  window.high[d] = std::max<int64_t>(span - reach, 0);
  window.strides[d] = std::max(window.strides[d], reach - span + 1);
}

/// The window is the whole image: pooling is a reduction.
bool isWhole(const WindowSpec &window, ArrayRef<int64_t> spatial) {
  for (unsigned d = 0; d < spatial.size(); ++d)
    if (window.out[d] != 1 || window.size[d] != spatial[d] || window.low[d] ||
        window.high[d])
      return false;
  return true;
}

/// Windows so large that one dimension after the other reads far less.
bool isSeparable(const WindowSpec &window) {
  constexpr int64_t kGain = 2;
  int64_t whole = 1, apart = 0;
  for (int64_t size : window.size) {
    whole *= size;
    apart += size;
  }
  return whole > kGain * apart;
}

/// The window along `d` alone, over one element of the other dimensions.
WindowSpec along(const WindowSpec &window, unsigned d,
                 ArrayRef<int64_t> spatial) {
  WindowSpec one = window;
  for (unsigned other = 0; other < spatial.size(); ++other) {
    if (other == d)
      continue;
    one.size[other] = one.strides[other] = one.dilations[other] = 1;
    one.low[other] = one.high[other] = 0;
    one.out[other] = spatial[other];
  }
  return one;
}

/// Pools over each whole image. Of equal largest elements the first counts, as
/// in other windows.
Value poolAll(OnnxNode &node, Value x, ReduceKind kind) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  Value y = node.reduce(kind, x, dims);
  return kind == ReduceKind::Max
             ? node.function("largest", {x}, y, {node.dims(dims)})
             : y;
}

Value pool(OnnxNode &node, Value x, ReduceKind kind, WindowSpec window) {
  SmallVector<int64_t> spatial(node.shape(0).drop_front(2));
  for (unsigned d = 0; d < spatial.size(); ++d)
    trimWindow(window, d, spatial[d]);
  auto shapeOf = [&](const WindowSpec &by) {
    SmallVector<int64_t> shape(node.shape(0).take_front(2));
    llvm::append_range(shape, by.out);
    return shape;
  };
  if (isWhole(window, spatial))
    return node.reshape(poolAll(node, x, kind), shapeOf(window));
  auto create = [&](Value of, const WindowSpec &by) {
    return node.create<PoolOp>(OnnxNode::typeOf(of).clone(shapeOf(by)), kind,
                               of, by.size, by.strides, by.dilations, by.low,
                               by.high);
  };
  if (!isSeparable(window))
    return create(x, window);
  for (unsigned d = spatial.size(); d-- > 0;) {
    WindowSpec one = along(window, d, spatial);
    bool changes = one.size[d] > 1 || one.strides[d] > 1 || one.low[d] > 0 ||
                   window.out[d] != spatial[d];
    spatial[d] = window.out[d];
    if (changes)
      x = create(x, one);
  }
  return x;
}

/// Calls `visit(position)` for each element of a window, in order.
template <typename Visit>
void forEachInWindow(const WindowSpec &window, Visit visit) {
  SmallVector<int64_t> at(window.size.size(), 0);
  while (true) {
    visit(ArrayRef<int64_t>(at));
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == window.size[d - 1])
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

/// The elements that all windows read at one position: [n, c, results...].
Value windowElement(OnnxNode &node, Value padded, const WindowSpec &window,
                    ArrayRef<int64_t> position) {
  SmallVector<int64_t> starts{0, 0}, steps{1, 1};
  SmallVector<int64_t> shape(OnnxNode::shapeOf(padded).take_front(2));
  for (auto [d, at] : llvm::enumerate(position)) {
    starts.push_back(at * window.dilations[d]);
    steps.push_back(window.out[d] > 1 ? window.strides[d] : 1);
    shape.push_back(window.out[d]);
  }
  return node.slice(padded, starts, shape, steps);
}

/// The position of the largest element of each window in the flat input; of
/// equal ones the first. `strides` are those of the spatial dimensions in flat
/// positions.
Value largestPositions(OnnxNode &node, const WindowSpec &window,
                       ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape(node.shape(0)), low{0, 0}, high{0, 0};
  for (size_t d = 0; d < window.out.size(); ++d) {
    low.push_back(window.low[d]);
    high.push_back(window.high[d]);
    shape[d + 2] += window.low[d] + window.high[d];
  }
  // Padding is less than any element: integers have 8 bits.
  Value image = node.input(0);
  if (isa<IntegerType>(node.type(0).getElementType()))
    image = node.convert(image, node.builder.getI32Type());
  Value padded = node.create<PadOp>(
      OnnxNode::typeOf(image).clone(shape), image, low, high,
      llvm::APFloat(-std::numeric_limits<double>::infinity()));
  Value best, offset;
  forEachInWindow(window, [&](ArrayRef<int64_t> position) {
    Value x = windowElement(node, padded, window, position);
    auto type = OnnxNode::typeOf(x).clone(node.builder.getI64Type());
    int64_t distance = 0;
    for (size_t d = 0; d < position.size(); ++d)
      distance +=
          (position[d] * window.dilations[d] - window.low[d]) * strides[d];
    Value here = node.splat(type, double(distance));
    if (!best) {
      best = x;
      offset = here;
      return;
    }
    Value better = node.compare(ComparePredicate::Gt, x, best);
    best = node.select(better, x, best);
    offset = node.select(better, here, offset);
  });
  int64_t pixels = llvm::product_of(node.shape(0).drop_front(2));
  auto add = [&](int64_t dim, int64_t stride) {
    Value at = node.iota(OnnxNode::typeOf(offset), dim);
    offset = node.binary(BinaryKind::Add, offset,
                         node.binary(BinaryKind::Mul, at, double(stride)));
  };
  add(0, pixels * node.shape(0)[1]);
  add(1, pixels);
  for (size_t d = 0; d < strides.size(); ++d)
    add(d + 2, strides[d] * window.strides[d]);
  return offset;
}

LogicalResult maxPool(OnnxNode &node) {
  FailureOr<WindowSpec> window = poolWindow(node);
  if (failed(window))
    return failure();
  node.setOutput(0, pool(node, node.input(0), ReduceKind::Max, *window));
  if (!node.wantsOutput(1))
    return success();
  int64_t elements = 1;
  for (int64_t size : window->size) {
    if (size > 1024 / elements)
      return node.error("positions in windows of more than 1024 elements are "
                        "not supported");
    elements *= size;
  }
  ArrayRef<int64_t> spatial = node.shape(0).drop_front(2);
  SmallVector<int64_t> strides(spatial.size(), 1);
  if (node.getInt("storage_order", 0))
    for (size_t d = 1; d < spatial.size(); ++d)
      strides[d] = strides[d - 1] * spatial[d - 1];
  else
    for (size_t d = spatial.size() - 1; d > 0; --d)
      strides[d - 1] = strides[d] * spatial[d];
  node.setOutput(1, largestPositions(node, *window, strides));
  return success();
}

/// The number of elements of each window along dimension d: those of the input,
/// and of its padding if that counts, but never those that ceil_mode added.
SmallVector<double> countsAlong(const WindowSpec &window, unsigned d, int64_t n,
                                bool includePad) {
  int64_t first = includePad ? -window.low[d] : 0;
  int64_t last = includePad ? n + window.high[d] - window.extra[d] : n;
  SmallVector<double> counts;
  for (int64_t o = 0; o < window.out[d]; ++o) {
    int64_t at = o * window.strides[d] - window.low[d];
    // How many of its elements come before `end`.
    auto before = [&](int64_t end) {
      return std::clamp<int64_t>(
          llvm::divideCeilSigned(end - at, window.dilations[d]), 0,
          window.size[d]);
    };
    counts.push_back(std::max<int64_t>(before(last) - before(first), 1));
  }
  return counts;
}

/// A sum times one over the count. Counts that differ (at the border) become
/// one table per dimension.
LogicalResult averagePool(OnnxNode &node) {
  FailureOr<WindowSpec> window = poolWindow(node);
  if (failed(window) || failed(node.requireFloat(0)))
    return failure();
  Value sum = pool(node, node.widened(node.input(0)), ReduceKind::Sum, *window);
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
  return node.finish(node.convert(sum, OnnxNode::elementOf(node.input(0))));
}

template <bool average> LogicalResult globalPool(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 8)))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  SmallVector<int64_t> shape(node.rank(0), 1);
  shape[0] = node.shape(0)[0];
  shape[1] = node.shape(0)[1];
  Value y = average ? node.mean(node.input(0), dims)
                    : poolAll(node, node.input(0), ReduceKind::Max);
  return node.finish(node.reshape(y, shape));
}

//===----------------------------------------------------------------------===//
// Norms over windows
//===----------------------------------------------------------------------===//

/// |x|^p, or the p-th root of it.
Value powerOf(OnnxNode &node, Value x, double p) {
  if (p == 1)
    return x;
  if (p == 2)
    return node.binary(BinaryKind::Mul, x, x);
  if (p == 0.5)
    return node.unary(UnaryKind::Sqrt, x);
  return node.binary(BinaryKind::Pow, x, p);
}

/// p-th root of a sum of |x|^p, which `sum` makes.
LogicalResult normOf(OnnxNode &node,
                     llvm::function_ref<FailureOr<Value>(Value)> sum) {
  double p = double(node.getInt("p", 2));
  if (failed(node.requireFloat(0)))
    return failure();
  if (p < 1)
    return node.error("p must be positive");
  Value x = node.widened(node.input(0));
  FailureOr<Value> total = sum(powerOf(node, node.unary(UnaryKind::Abs, x), p));
  if (failed(total))
    return failure();
  Value y = powerOf(node, *total, 1 / p);
  if (p > 1)
    y = rootOf(node, y, *total, 1 / p);
  return node.finish(node.convert(y, OnnxNode::elementOf(node.input(0))));
}

LogicalResult lpPool(OnnxNode &node) {
  return normOf(node, [&](Value x) -> FailureOr<Value> {
    FailureOr<WindowSpec> window = poolWindow(node);
    if (failed(window))
      return failure();
    return pool(node, x, ReduceKind::Sum, *window);
  });
}

LogicalResult globalLpPool(OnnxNode &node) {
  if (failed(node.requireRank(0, 3, 8)))
    return failure();
  return normOf(node, [&](Value x) -> FailureOr<Value> {
    SmallVector<int64_t> shape(node.rank(0), 1);
    shape[0] = node.shape(0)[0];
    shape[1] = node.shape(0)[1];
    auto dims = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
    return node.reshape(node.reduce(ReduceKind::Sum, x, dims), shape);
  });
}

/// x / (bias + alpha / size * sum of x^2 over `size` channels)^beta
LogicalResult localResponse(OnnxNode &node) {
  int64_t size = node.getInt("size", 0);
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 5)))
    return failure();
  if (size < 1 || size > kWindowLimit)
    return node.error("size " + Twine(size) + " is out of range");
  Value x = node.widened(node.input(0));
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t image = 1;
  for (int64_t extent : shape.drop_front(2))
    image *= extent;
  SmallVector<int64_t> flat{shape[0], 1, shape[1], image};
  Value squares = node.reshape(node.binary(BinaryKind::Mul, x, x), flat);
  Value sum = node.create<PoolOp>(
      squares.getType(), ReduceKind::Sum, squares, ArrayRef<int64_t>{size, 1},
      ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{1, 1},
      ArrayRef<int64_t>{(size - 1) / 2, 0}, ArrayRef<int64_t>{size / 2, 0});
  Value scale =
      node.binary(BinaryKind::Add,
                  node.binary(BinaryKind::Mul, node.reshape(sum, shape),
                              node.getFloat("alpha", 1e-4) / double(size)),
                  node.getFloat("bias", 1));
  Value y = node.binary(BinaryKind::Div, x,
                        powerOf(node, scale, node.getFloat("beta", 0.75)));
  return node.finish(node.convert(y, OnnxNode::elementOf(node.input(0))));
}

constexpr StringLiteral kLpPool =
    "auto_pad:string kernel_shape:ints! p:int pads:ints strides:ints";
constexpr StringLiteral kLpPoolCeil =
    "auto_pad:string ceil_mode:int dilations:ints kernel_shape:ints! p:int "
    "pads:ints strides:ints";

const OnnxOp kOps[] = {
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
    {"LpPool", "2 11", 1, 1, kLpPool, lpPool},
    {"LpPool", "18 22", 1, 1, kLpPoolCeil, lpPool},
    {"GlobalLpPool", "2 22", 1, 1, "p:int", globalLpPool},
    {"LRN", "1 13", 1, 1, "alpha:float beta:float bias:float size:int!",
     localResponse},
};
} // namespace

ArrayRef<OnnxOp> poolOps() { return kOps; }

} // namespace autopar
