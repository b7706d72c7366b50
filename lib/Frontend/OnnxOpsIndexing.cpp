//===- OnnxOpsIndexing.cpp - ONNX gathers, padding and resizing -----------===//

#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

LogicalResult requireIndices(OnnxNode &node, unsigned i) {
  if (isa<IntegerType>(OnnxNode::elementOf(node.input(i))))
    return success();
  return node.error("its input " + Twine(i) + " must be of an integer type");
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

LogicalResult gather(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis) || failed(requireIndices(node, 1)))
    return failure();
  if (node.shape(0)[*axis] == 0)
    return node.error("it gathers from an empty dimension");
  return node.finish(node.gather(node.input(0), node.input(1), *axis));
}

LogicalResult gatherNd(OnnxNode &node) {
  int64_t batch = node.getInt("batch_dims", 0);
  if (failed(requireIndices(node, 1)))
    return failure();
  ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  if (indices.empty() || batch < 0 || batch >= int64_t(indices.size()) ||
      batch >= int64_t(data.size()) ||
      data.take_front(batch) != indices.take_front(batch))
    return node.error("batch_dims " + Twine(batch) +
                      " does not fit the shapes");
  int64_t depth = indices.back();
  if (depth < 1 || depth > int64_t(data.size()) - batch)
    return node.error("indices of " + Twine(depth) +
                      " numbers do not fit data of rank " + Twine(data.size()));
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, data.drop_front(batch + depth));
  return node.finish(node.create<GatherNdOp>(
      node.type(0).clone(shape), node.input(0), node.input(1), batch));
}

/// One index per element: GatherND with the positions of the other dimensions.
LogicalResult gatherElements(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis) || failed(requireIndices(node, 1)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  Type i64 = node.builder.getI64Type();
  SmallVector<int64_t> shape(node.shape(1));
  for (int64_t d = 0; d < node.rank(0); ++d)
    if (d != *axis && shape[d] > node.shape(0)[d])
      return node.error("the indices are larger than the data in dimension " +
                        Twine(d));
  shape.push_back(1);
  SmallVector<Value> parts;
  for (int64_t d = 0; d < node.rank(0); ++d)
    parts.push_back(d == *axis
                        ? node.reshape(node.convert(node.input(1), i64), shape)
                        : node.iota(RankedTensorType::get(shape, i64), d));
  Value indices = node.concat(parts, node.rank(0));
  return node.finish(node.create<GatherNdOp>(node.type(0).clone(node.shape(1)),
                                             node.input(0), indices, 0));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Low and high padding per dimension.
struct Padding {
  SmallVector<int64_t> low, high;
};

FailureOr<Padding> paddingOf(OnnxNode &node) {
  SmallVector<int64_t> pads = node.getInts("pads");
  if (node.has(1)) {
    FailureOr<SmallVector<int64_t>> given = node.ints(1);
    if (failed(given))
      return failure();
    pads = *given;
  }
  int64_t rank = node.rank(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    FailureOr<SmallVector<int64_t>> given = node.ints(3);
    if (failed(given) || failed(node.normalizeAxes(*given, rank)))
      return failure();
    axes = *given;
  }
  if (pads.size() != 2 * axes.size())
    return node.error("it has " + Twine(pads.size()) + " pads for " +
                      Twine(axes.size()) + " dimensions");
  Padding padding{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t d = axis < 0 ? axis + rank : axis;
    padding.low[d] = pads[i];
    padding.high[d] = pads[axes.size() + i];
    int64_t size = node.shape(0)[d];
    for (int64_t pad : {pads[i], pads[axes.size() + i]})
      if (pad < -size || pad > int64_t(1) << 40)
        return node.error("a pad is " + Twine(pad) + " for size " +
                          Twine(size));
    if (padding.low[d] + padding.high[d] + size < 0)
      return node.error("its pads cut more than there is");
  }
  return padding;
}

/// Negative pads cut.
Value cutNegative(OnnxNode &node, Value x, Padding &padding) {
  SmallVector<int64_t> starts, sizes;
  for (auto [d, size] : llvm::enumerate(OnnxNode::shapeOf(x))) {
    int64_t low = std::max<int64_t>(-padding.low[d], 0);
    int64_t high = std::max<int64_t>(-padding.high[d], 0);
    starts.push_back(low);
    sizes.push_back(size - low - high);
    padding.low[d] = std::max<int64_t>(padding.low[d], 0);
    padding.high[d] = std::max<int64_t>(padding.high[d], 0);
  }
  return node.slice(x, starts, sizes);
}

Value padConstant(OnnxNode &node, Value x, const Padding &padding,
                  double value) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] += padding.low[d] + padding.high[d];
  if (ArrayRef<int64_t>(shape) == OnnxNode::shapeOf(x))
    return x;
  return node.create<PadOp>(OnnxNode::typeOf(x).clone(shape), x, padding.low,
                            padding.high, llvm::APFloat(value));
}

/// Which element of a dimension of size n is read at position `at` outside.
int64_t reflected(StringRef mode, int64_t at, int64_t n) {
  if (mode == "edge")
    return std::clamp<int64_t>(at, 0, n - 1);
  if (mode == "wrap")
    return ((at % n) + n) % n;
  int64_t period = std::max<int64_t>(2 * (n - 1), 1);
  at = ((at % period) + period) % period;
  return at < n ? at : period - at;
}

Value padByIndex(OnnxNode &node, Value x, const Padding &padding,
                 StringRef mode) {
  for (int64_t d = 0; d < OnnxNode::rankOf(x); ++d) {
    int64_t n = OnnxNode::shapeOf(x)[d];
    if (padding.low[d] == 0 && padding.high[d] == 0)
      continue;
    SmallVector<int64_t> indices;
    for (int64_t at = -padding.low[d]; at < n + padding.high[d]; ++at)
      indices.push_back(reflected(mode, at, n));
    x = node.gather(x, node.scalarInts(indices, {int64_t(indices.size())}), d);
  }
  return x;
}

LogicalResult pad(OnnxNode &node) {
  FailureOr<Padding> padding = paddingOf(node);
  if (failed(padding))
    return failure();
  StringRef mode = node.getString("mode", "constant");
  double value = node.getFloat("value", 0);
  if (node.has(2)) {
    std::optional<SmallVector<double>> known = node.knownNumbers(2);
    if (!known || known->size() != 1)
      return node.error(
          "its input 2 must be one number, known while compiling");
    value = known->front();
  }
  Value x = cutNegative(node, node.input(0), *padding);
  if (mode == "constant")
    return node.finish(padConstant(node, x, *padding, value));
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return node.error("unknown mode '" + mode +
                      "' (known: constant, edge, reflect, wrap)");
  for (int64_t d = 0; d < OnnxNode::rankOf(x); ++d)
    if (padding->low[d] + padding->high[d] > 1 << 20 ||
        (OnnxNode::shapeOf(x)[d] == 0 && padding->low[d] + padding->high[d]))
      return node.error("its pads do not fit mode " + mode);
  return node.finish(padByIndex(node, x, *padding, mode));
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

/// Sizes and scales per dimension of the data.
struct ResizeSpec {
  SmallVector<int64_t> sizes;
  SmallVector<double> scales;
};

FailureOr<SmallVector<int64_t>> resizeAxes(OnnxNode &node) {
  SmallVector<int64_t> axes = node.getInts("axes");
  if (!node.hasAttribute("axes"))
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  FailureOr<SmallVector<int64_t>> sorted =
      node.normalizeAxes(axes, node.rank(0));
  if (failed(sorted))
    return failure();
  for (int64_t &axis : axes)
    axis += axis < 0 ? node.rank(0) : 0;
  return axes;
}

FailureOr<ResizeSpec> resizeSpec(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> axes = resizeAxes(node);
  if (failed(axes))
    return failure();
  ResizeSpec spec{SmallVector<int64_t>(node.shape(0)),
                  SmallVector<double>(node.rank(0), 1)};
  unsigned scalesInput = node.version == 10 ? 1 : 2;
  if (node.has(3)) {
    FailureOr<SmallVector<int64_t>> sizes = node.ints(3);
    if (failed(sizes))
      return failure();
    if (sizes->size() != axes->size())
      return node.error("its sizes do not fit the rank");
    for (auto [axis, size] : llvm::zip_equal(*axes, *sizes)) {
      spec.sizes[axis] = size;
      spec.scales[axis] = double(size) / node.shape(0)[axis];
    }
  } else {
    std::optional<SmallVector<double>> scales;
    if (node.has(scalesInput))
      scales = node.knownNumbers(scalesInput);
    if (!scales || scales->size() != axes->size())
      return node.error("it needs sizes or scales, known while compiling, one "
                        "per dimension");
    for (auto [axis, scale] : llvm::zip_equal(*axes, *scales)) {
      double size = std::floor(node.shape(0)[axis] * scale);
      spec.scales[axis] = scale;
      spec.sizes[axis] = size > 0 && size < 1 << 30 ? int64_t(size) : 0;
    }
  }
  for (int64_t size : spec.sizes)
    if (size < 1 || size > 1 << 30)
      return node.error("its result's size is out of range");
  return spec;
}

/// Where result position `at` lies in the input.
FailureOr<double> sourceOf(OnnxNode &node, StringRef mode, int64_t at,
                           int64_t in, int64_t out, double scale) {
  if (mode == "asymmetric")
    return at / scale;
  if (mode == "half_pixel" || mode == "half_pixel_symmetric")
    return (at + 0.5) / scale - 0.5;
  if (mode == "pytorch_half_pixel")
    return out > 1 ? (at + 0.5) / scale - 0.5 : 0;
  if (mode == "align_corners")
    return out > 1 ? at * double(in - 1) / (out - 1) : 0;
  return node.error("coordinate_transformation_mode '" + mode +
                    "' is not supported");
}

FailureOr<int64_t> nearest(OnnxNode &node, StringRef mode, double at) {
  if (mode == "round_prefer_floor")
    return int64_t(std::ceil(at - 0.5));
  if (mode == "round_prefer_ceil")
    return int64_t(std::floor(at + 0.5));
  if (mode == "floor" || mode == "simple")
    return int64_t(std::floor(at));
  if (mode == "ceil")
    return int64_t(std::ceil(at));
  return node.error("nearest_mode '" + mode + "' is not supported");
}

/// Repeats each element of dimension d `count` times.
Value repeatAlong(OnnxNode &node, Value x, int64_t d, int64_t count) {
  SmallVector<int64_t> wide(OnnxNode::shapeOf(x)), shape = wide, dims;
  wide.insert(wide.begin() + d + 1, count);
  shape[d] *= count;
  for (int64_t i = 0; i < int64_t(wide.size()); ++i)
    if (i != d + 1)
      dims.push_back(i);
  return node.reshape(node.broadcastDims(x, wide, dims), shape);
}

FailureOr<Value> resizeAlong(OnnxNode &node, Value x, int64_t d, int64_t out,
                             double scale) {
  bool old = node.version == 10;
  StringRef coordinates = node.getString("coordinate_transformation_mode",
                                         old ? "asymmetric" : "half_pixel");
  StringRef rounding =
      node.getString("nearest_mode", old ? "floor" : "round_prefer_floor");
  int64_t in = OnnxNode::shapeOf(x)[d];
  SmallVector<int64_t> indices;
  bool repeats = out % in == 0;
  for (int64_t at = 0; at < out; ++at) {
    FailureOr<double> source = sourceOf(node, coordinates, at, in, out, scale);
    if (failed(source))
      return failure();
    FailureOr<int64_t> index = nearest(node, rounding, *source);
    if (failed(index))
      return failure();
    indices.push_back(std::clamp<int64_t>(*index, 0, in - 1));
    repeats = repeats && indices.back() == at / (out / in);
  }
  if (repeats)
    return repeatAlong(node, x, d, out / in);
  return node.gather(x, node.scalarInts(indices, {out}), d);
}

LogicalResult resize(OnnxNode &node) {
  FailureOr<ResizeSpec> spec = resizeSpec(node);
  if (failed(spec))
    return failure();
  StringRef mode = node.getString("mode", "nearest");
  if (mode != "nearest")
    return node.error("mode '" + mode + "' is not supported (known: nearest)");
  if (node.getString("keep_aspect_ratio_policy", "stretch") != "stretch" ||
      node.getInt("antialias", 0))
    return node.error(
        "keep_aspect_ratio_policy and antialias are not supported");
  FailureOr<Value> x = node.input(0);
  for (int64_t d = 0; d < node.rank(0) && succeeded(x); ++d)
    if (spec->sizes[d] != node.shape(0)[d])
      x = resizeAlong(node, *x, d, spec->sizes[d], spec->scales[d]);
  return failed(x) ? failure() : node.finish(*x);
}

constexpr StringLiteral kResize =
    "coordinate_transformation_mode:string cubic_coeff_a:float "
    "exclude_outside:int extrapolation_value:float mode:string "
    "nearest_mode:string";
constexpr StringLiteral kResizeAxes =
    "antialias:int axes:ints coordinate_transformation_mode:string "
    "cubic_coeff_a:float exclude_outside:int extrapolation_value:float "
    "keep_aspect_ratio_policy:string mode:string nearest_mode:string";

const OnnxOp kOps[] = {
    {"Gather", "1 11 13", 2, 2, "axis:int", gather},
    {"GatherND", "11", 2, 2, "", gatherNd},
    {"GatherND", "12 13", 2, 2, "batch_dims:int", gatherNd},
    {"GatherElements", "11 13", 2, 2, "axis:int", gatherElements},
    {"Pad", "2", 1, 1, "mode:string pads:ints! value:float", pad},
    {"Pad", "11 13", 2, 3, "mode:string", pad},
    {"Pad", "18 19 21 23 24 25", 2, 4, "mode:string", pad},
    {"Resize", "10", 2, 2, "mode:string", resize},
    {"Resize", "11", 3, 4, kResize, resize},
    {"Resize", "13", 1, 4, kResize, resize},
    {"Resize", "18 19", 1, 4, kResizeAxes, resize},
};
} // namespace

ArrayRef<OnnxOp> indexingOps() { return kOps; }

} // namespace autopar
