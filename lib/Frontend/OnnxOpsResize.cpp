//===- OnnxOpsResize.cpp - ONNX resizing of images ------------------------===//
//
// Resizing works along one dimension after the other. Where a result element
// reads is known while compiling: it is a weighted sum of a few elements, each
// a gather with constant indices; of many, an einsum with the matrix of
// weights. Whole multiples of nearest neighbours are broadcasts.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "ResizeWeights.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// More weights per result element than this make a matrix multiplication.
constexpr size_t kMaxTaps = 8;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

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

/// One scale for all: the smallest or largest that the sizes ask for.
LogicalResult keepAspectRatio(OnnxNode &node, ArrayRef<int64_t> axes,
                              ResizeSpec &spec) {
  StringRef policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return success();
  if (policy != "not_larger" && policy != "not_smaller")
    return node.error("unknown value '" + policy +
                      "' of keep_aspect_ratio_policy (known: stretch, "
                      "not_larger, not_smaller)");
  double scale = spec.scales[axes.front()];
  for (int64_t axis : axes)
    scale = policy == "not_larger" ? std::min(scale, spec.scales[axis])
                                   : std::max(scale, spec.scales[axis]);
  for (int64_t axis : axes) {
    double size = std::floor(scale * node.shape(0)[axis] + 0.5);
    if (!(size >= std::min<int64_t>(node.shape(0)[axis], 1) && size <= 1 << 30))
      return node.error("its result's size " + std::to_string(size) +
                        " is out of range");
    spec.scales[axis] = scale;
    spec.sizes[axis] = int64_t(size);
  }
  return success();
}

LogicalResult readSizes(OnnxNode &node, ArrayRef<int64_t> axes,
                        ResizeSpec &spec) {
  FailureOr<SmallVector<int64_t>> sizes = node.ints(3);
  if (failed(sizes))
    return failure();
  if (sizes->size() != axes.size() || axes.empty())
    return node.error("its sizes do not fit the rank");
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    if (size < std::min<int64_t>(node.shape(0)[axis], 1) || size > 1 << 30)
      return node.error("its result's size " + Twine(size) +
                        " is out of range");
    spec.sizes[axis] = size;
    if (size != node.shape(0)[axis])
      spec.scales[axis] = double(size) / node.shape(0)[axis];
  }
  return keepAspectRatio(node, axes, spec);
}

/// The scales that input i holds; none without it.
FailureOr<SmallVector<double>> knownScales(OnnxNode &node, unsigned i) {
  if (!node.has(i))
    return SmallVector<double>();
  if (std::optional<SmallVector<double>> known = node.knownNumbers(i))
    return *known;
  return node.error("its scales, input " + Twine(i) +
                    ", must be known while compiling" + node.howToBind(i));
}

LogicalResult setScales(OnnxNode &node, ArrayRef<int64_t> axes,
                        ArrayRef<double> scales, ResizeSpec &spec) {
  if (scales.size() != axes.size())
    return node.error("it needs sizes or scales, known while compiling, one "
                      "per dimension");
  for (auto [axis, scale] : llvm::zip_equal(axes, scales)) {
    double size = std::floor(node.shape(0)[axis] * scale);
    if (!(size >= std::min<int64_t>(node.shape(0)[axis], 1) && size <= 1 << 30))
      return node.error("its scale " + std::to_string(scale) +
                        " is out of range");
    spec.scales[axis] = scale;
    spec.sizes[axis] = int64_t(size);
  }
  return success();
}

LogicalResult readRoi(OnnxNode &node, ArrayRef<int64_t> axes,
                      ResizeSpec &spec) {
  if (!spec.crops())
    return success();
  std::optional<SmallVector<double>> roi;
  if (node.has(1))
    roi = node.knownNumbers(1);
  if (!roi || roi->size() != 2 * axes.size())
    return node.error("tf_crop_and_resize needs roi, known while compiling, "
                      "with two numbers per dimension" +
                      (node.has(1) ? node.howToBind(1) : ""));
  for (auto [i, axis] : llvm::enumerate(axes))
    spec.roi[axis] = {(*roi)[i], (*roi)[axes.size() + i]};
  return success();
}

LogicalResult checkModes(OnnxNode &node, const ResizeSpec &spec) {
  if (spec.mode != "nearest" && spec.mode != "linear" && spec.mode != "cubic")
    return node.error("unknown mode '" + spec.mode +
                      "' (known: nearest, linear, cubic)");
  static constexpr StringLiteral coordinates[] = {
      "align_corners",        "asymmetric",         "half_pixel",
      "half_pixel_symmetric", "pytorch_half_pixel", "tf_crop_and_resize"};
  if (!llvm::is_contained(coordinates, spec.coordinates))
    return node.error("coordinate_transformation_mode '" + spec.coordinates +
                      "' is not supported");
  static constexpr StringLiteral roundings[] = {
      "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (!llvm::is_contained(roundings, spec.rounding))
    return node.error("nearest_mode '" + spec.rounding + "' is not supported");
  return success();
}

/// Modes of a version; before 11 there was one way to place and to round.
ResizeSpec specOf(OnnxNode &node, bool old) {
  int64_t rank = node.rank(0);
  ResizeSpec spec;
  spec.sizes.assign(node.shape(0).begin(), node.shape(0).end());
  spec.scales.assign(rank, 1);
  spec.roi.assign(rank, {0, 1});
  spec.mode = node.getString("mode", "nearest");
  if (old && (spec.mode == "bilinear" || spec.mode == "trilinear"))
    spec.mode = "linear";
  spec.coordinates = node.getString("coordinate_transformation_mode",
                                    old ? "asymmetric" : "half_pixel");
  spec.rounding =
      node.getString("nearest_mode", old ? "floor" : "round_prefer_floor");
  spec.shrinksUpwards = old;
  spec.cubic = node.getFloat("cubic_coeff_a", -0.75);
  spec.outside = node.getFloat("extrapolation_value", 0);
  spec.excludeOutside = node.getInt("exclude_outside", 0);
  spec.antialias = node.getInt("antialias", 0);
  return spec;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

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

/// Elements of x along dimension d at tap `number` of each result element.
Value tapAlong(OnnxNode &node, Value x, int64_t d, const ResizeLine &line,
               size_t number) {
  int64_t in = OnnxNode::shapeOf(x)[d], out = line.taps.size();
  SmallVector<int64_t> indices;
  bool repeats = out % in == 0;
  for (auto [at, taps] : llvm::enumerate(line.taps)) {
    indices.push_back(
        std::clamp<int64_t>(taps.first + int64_t(number), 0, in - 1));
    repeats = repeats && indices.back() == int64_t(at) / (out / in);
  }
  if (repeats)
    return repeatAlong(node, x, d, out / in);
  return node.gather(x, node.scalarInts(indices, {out}), d);
}

/// A sum of products with one weight per position of dimension d; of halves in
/// f32, as what resizes the next dimension reads.
Value sumOfTaps(OnnxNode &node, Value x, int64_t d, const ResizeLine &line) {
  Value sum;
  for (size_t tap = 0; tap < line.taps.front().weights.size(); ++tap) {
    SmallVector<double> weights;
    for (const ResizeTaps &taps : line.taps)
      weights.push_back(taps.weights[tap]);
    if (llvm::all_of(weights, [](double weight) { return weight == 0; }))
      continue;
    Value term = tapAlong(node, x, d, line, tap);
    if (line.taps.front().weights.size() > 1)
      term = node.widened(term);
    if (!llvm::all_of(weights, [](double weight) { return weight == 1; }))
      term =
          node.binaryAlong(BinaryKind::Mul, term,
                           node.floats(weights, OnnxNode::elementOf(term)), d);
    sum = sum ? node.binary(BinaryKind::Add, sum, term) : term;
  }
  return sum ? sum : tapAlong(node, x, d, line, 0);
}

/// The same as one einsum with a matrix of weights [out, in].
Value einsumOfTaps(OnnxNode &node, Value x, int64_t d, const ResizeLine &line) {
  int64_t in = OnnxNode::shapeOf(x)[d], out = line.taps.size();
  SmallVector<double> matrix(in * out, 0);
  for (auto [row, taps] : llvm::enumerate(line.taps))
    for (auto [i, weight] : llvm::enumerate(taps.weights))
      matrix[row * in +
             std::clamp<int64_t>(taps.first + int64_t(i), 0, in - 1)] += weight;
  Value table =
      node.reshape(node.floats(matrix, OnnxNode::elementOf(x)), {out, in});
  std::string letters =
      StringRef("abcdefgh").take_front(OnnxNode::rankOf(x)).str();
  std::string result = letters;
  result[d] = 'z';
  return node.einsum(letters, std::string("z") + letters[d], result, x, table);
}

Value resizeAlong(OnnxNode &node, Value x, int64_t d, const ResizeSpec &spec) {
  ResizeLine line = resizeLine(spec, d, OnnxNode::shapeOf(x)[d]);
  bool wide = line.taps.front().weights.size() > kMaxTaps &&
              OnnxNode::rankOf(x) <= 8 &&
              isa<FloatType>(OnnxNode::elementOf(x));
  Value y = wide ? einsumOfTaps(node, x, d, line) : sumOfTaps(node, x, d, line);
  if (!llvm::is_contained(line.isOutside, true))
    return y;
  SmallVector<int64_t> flags(line.isOutside.begin(), line.isOutside.end());
  Value outside = node.convert(node.scalarInts(flags, {int64_t(flags.size())}),
                               node.builder.getI1Type());
  return node.select(node.broadcastDims(outside, OnnxNode::shapeOf(y), {d}),
                     node.splatLike(y, spec.outside), y);
}

LogicalResult resizeAll(OnnxNode &node, const ResizeSpec &spec) {
  if (failed(checkModes(node, spec)))
    return failure();
  if (spec.mode != "nearest" && failed(node.requireFloat(0)))
    return failure();
  Type element = node.type(0).getElementType();
  Value x = node.input(0);
  for (int64_t d = 0; d < node.rank(0); ++d) {
    bool same = spec.sizes[d] == node.shape(0)[d] && spec.scales[d] == 1;
    if (same && !spec.crops())
      continue;
    if (node.shape(0)[d] == 0)
      return node.error("it cannot resize an empty dimension");
    x = resizeAlong(node, x, d, spec);
  }
  return node.finish(node.convert(x, element));
}

LogicalResult resize(OnnxNode &node) {
  bool old = node.version == 10;
  FailureOr<SmallVector<int64_t>> axes = resizeAxes(node);
  if (failed(axes))
    return failure();
  ResizeSpec spec = specOf(node, old);
  if (failed(readRoi(node, *axes, spec)))
    return failure();
  if (node.has(3)) {
    if (failed(readSizes(node, *axes, spec)))
      return failure();
    return resizeAll(node, spec);
  }
  FailureOr<SmallVector<double>> scales = knownScales(node, old ? 1 : 2);
  if (failed(scales) || failed(setScales(node, *axes, *scales, spec)))
    return failure();
  return resizeAll(node, spec);
}

LogicalResult upsample(OnnxNode &node) {
  ResizeSpec spec = specOf(node, /*old=*/true);
  SmallVector<double> scales;
  if (node.version == 1) {
    if (failed(node.requireRank(0, 4, 4)))
      return failure();
    scales = {1, 1, node.getFloat("height_scale", 1),
              node.getFloat("width_scale", 1)};
  } else if (node.version == 7) {
    const onnx::AttributeProto *given = node.attribute("scales");
    scales.assign(given->floats().begin(), given->floats().end());
  } else {
    FailureOr<SmallVector<double>> known = knownScales(node, 1);
    if (failed(known))
      return failure();
    scales = *known;
  }
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  if (failed(setScales(node, axes, scales, spec)))
    return failure();
  return resizeAll(node, spec);
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
    {"Upsample", "1", 1, 1,
     "height_scale:float! mode:string width_scale:float!", upsample},
    {"Upsample", "7", 1, 1, "mode:string scales:floats!", upsample},
    {"Upsample", "9 10", 2, 2, "mode:string", upsample},
    {"Resize", "10", 2, 2, "mode:string", resize},
    {"Resize", "11", 3, 4, kResize, resize},
    {"Resize", "13", 1, 4, kResize, resize},
    {"Resize", "18 19", 1, 4, kResizeAxes, resize},
};
} // namespace

ArrayRef<OnnxOp> resizeOps() { return kOps; }

} // namespace autopar
