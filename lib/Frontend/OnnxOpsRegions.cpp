//===- OnnxOpsRegions.cpp - ONNX parts of images, taken and put together --===//

#include "ElementTypes.h"
#include "OnnxTensor.h"
#include "ScatterUpdates.h"
#include "WindowAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

/// The way in which each region is pooled.
struct Pooling {
  int64_t height, width, samples;
  double scale, offset;
  bool isMax, growsToOne;
};

FailureOr<Pooling> readPooling(OnnxNode &node) {
  Pooling pooling;
  pooling.height = node.getInt("output_height", 1);
  pooling.width = node.getInt("output_width", 1);
  pooling.samples = node.getInt("sampling_ratio", 0);
  pooling.scale = node.getFloat("spatial_scale", 1);
  StringRef mode = node.getString("mode", "avg");
  StringRef places =
      node.getString("coordinate_transformation_mode",
                     node.version < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max")
    return node.error("unknown value '" + mode + "' of mode (known: avg, max)");
  if (places != "half_pixel" && places != "output_half_pixel")
    return node.error("unknown value '" + places +
                      "' of coordinate_transformation_mode (known: "
                      "half_pixel, output_half_pixel)");
  pooling.isMax = mode == "max";
  pooling.offset = places == "half_pixel" ? 0.5 : 0;
  pooling.growsToOne = places == "output_half_pixel";
  constexpr int64_t kMost = 1 << 15;
  for (int64_t size : {pooling.height, pooling.width})
    if (size < 1 || size > kMost)
      return node.error("its output size " + Twine(size) + " is out of range");
  if (pooling.samples == 0)
    return node.error("sampling_ratio 0 takes as many samples as a region is "
                      "large, which is known when the model runs only: export "
                      "it with a number of samples, such as 2");
  if (pooling.samples < 0 || pooling.samples > kMost)
    return node.error("sampling_ratio is " + Twine(pooling.samples));
  return pooling;
}

/// The places of samples along one dimension of each region: [r, bins *
/// samples].
struct Samples {
  Value first, second; // positions of the elements on both sides
  Value low, high;     // how much each counts
  Value inside;
};

/// `begin` and `end` [r] of regions, in elements of a dimension of `size`.
Samples samplesAlong(OnnxNode &node, Value begin, Value end, int64_t bins,
                     int64_t size, const Pooling &pooling) {
  Type element = OnnxNode::elementOf(begin);
  int64_t regions = OnnxNode::shapeOf(begin)[0];
  auto whole = RankedTensorType::get({regions, bins, pooling.samples}, element);
  Value length = node.binary(BinaryKind::Sub, end, begin);
  if (pooling.growsToOne)
    length = node.binary(BinaryKind::Max, length, 1.0);
  Value bin = node.binary(BinaryKind::Mul, length, 1.0 / bins);
  auto spread = [&](Value x) {
    return node.broadcastDims(x, whole.getShape(), {0});
  };
  Value step = node.binary(
      BinaryKind::Mul, node.binary(BinaryKind::Add, node.iota(whole, 2), 0.5),
      1.0 / pooling.samples);
  Value places = node.binary(BinaryKind::Add, node.iota(whole, 1), step);
  Value at = node.binary(BinaryKind::Add, spread(begin),
                         node.binary(BinaryKind::Mul, spread(bin), places));
  at = node.reshape(at, {regions, bins * pooling.samples});
  Samples samples;
  samples.inside = node.binary(
      BinaryKind::And,
      node.compare(ComparePredicate::Ge, at, node.splatLike(at, -1)),
      node.compare(ComparePredicate::Le, at, node.splatLike(at, double(size))));
  at = node.binary(BinaryKind::Min, node.binary(BinaryKind::Max, at, 0.0),
                   double(size - 1));
  Value floor = node.unary(UnaryKind::Floor, at);
  samples.high = node.binary(BinaryKind::Sub, at, floor);
  samples.low =
      node.binary(BinaryKind::Sub, node.splatLike(at, 1), samples.high);
  samples.first = node.convert(floor, node.builder.getI64Type());
  samples.second = node.binary(BinaryKind::Min,
                               node.binary(BinaryKind::Add, samples.first, 1.0),
                               double(size - 1));
  return samples;
}

LogicalResult checkRegions(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 4, 4)))
    return failure();
  if (OnnxNode::elementOf(node.input(1)) != OnnxNode::elementOf(node.input(0)))
    return differentElements(node, 0, 1);
  if (!isa<IntegerType>(OnnxNode::elementOf(node.input(2))))
    return wrongElement(node, 2, "must be of an integer type");
  if (failed(node.requireRank(2, 1, 1)))
    return failure();
  if (node.shape(1) != ArrayRef<int64_t>({node.shape(2)[0], 4}))
    return node.error("its regions are " + OnnxNode::typeText(node.input(1)) +
                      "; it needs four numbers per number of an image");
  for (int64_t size : node.shape(0))
    if (size < 1 || size > 1 << 24)
      return node.error("it cannot take regions of " +
                        OnnxNode::typeText(node.input(0)));
  return success();
}

/// Samples [r, y, x, c] of images with their channels last, as one row per
/// element.
Value regionSamples(OnnxNode &node, Value rows, Value images, const Samples &y,
                    const Samples &x, bool isMax) {
  ArrayRef<int64_t> image = node.shape(0);
  int64_t regions = OnnxNode::shapeOf(images)[0];
  SmallVector<int64_t> points{regions, OnnxNode::shapeOf(y.first)[1],
                              OnnxNode::shapeOf(x.first)[1]},
      whole(points);
  whole.push_back(image[1]);
  auto alongY = [&](Value v) { return node.broadcastDims(v, points, {0, 1}); };
  auto alongX = [&](Value v) { return node.broadcastDims(v, points, {0, 2}); };
  Value first = node.broadcastDims(
      node.binary(BinaryKind::Mul, images, double(image[2])), points, {0});
  Value inside =
      node.binary(BinaryKind::And, alongY(y.inside), alongX(x.inside));
  Value result;
  for (bool lower : {false, true})
    for (bool right : {false, true}) {
      Value row = node.binary(BinaryKind::Add, first,
                              alongY(lower ? y.second : y.first));
      Value at = node.binary(
          BinaryKind::Add, node.binary(BinaryKind::Mul, row, double(image[3])),
          alongX(right ? x.second : x.first));
      Value weight =
          node.binary(BinaryKind::Mul, alongY(lower ? y.high : y.low),
                      alongX(right ? x.high : x.low));
      Value term = node.binary(BinaryKind::Mul, node.gather(rows, at, 0),
                               node.broadcastDims(weight, whole, {0, 1, 2}));
      result = result ? node.binary(isMax ? BinaryKind::Max : BinaryKind::Add,
                                    result, term)
                      : term;
    }
  return node.select(node.broadcastDims(inside, whole, {0, 1, 2}), result,
                     node.splatLike(result, 0));
}

/// The largest one of a bin is, in the standard, that of elements times their
/// weights.
LogicalResult roiAlign(OnnxNode &node) {
  FailureOr<Pooling> pooling = readPooling(node);
  if (failed(pooling) || failed(checkRegions(node)))
    return failure();
  ArrayRef<int64_t> image = node.shape(0);
  int64_t regions = node.shape(1)[0], s = pooling->samples;
  if (!countElements({regions, pooling->height, s, pooling->width, s, image[1]},
                     16))
    return node.error("its samples are too many");
  Value corners =
      node.binary(BinaryKind::Add,
                  node.binary(BinaryKind::Mul, node.input(1), pooling->scale),
                  -pooling->offset);
  auto corner = [&](int64_t i) { return node.take(corners, 1, i); };
  Samples y = samplesAlong(node, corner(1), corner(3), pooling->height,
                           image[2], *pooling);
  Samples x = samplesAlong(node, corner(0), corner(2), pooling->width, image[3],
                           *pooling);
  Value rows = node.reshape(node.transpose(node.input(0), {0, 2, 3, 1}),
                            {image[0] * image[2] * image[3], image[1]});
  Value images = node.convert(node.input(2), node.builder.getI64Type());
  Value samples = regionSamples(node, rows, images, y, x, pooling->isMax);
  samples = node.reshape(
      samples, {regions, pooling->height, s, pooling->width, s, image[1]});
  Value result = node.reduce(pooling->isMax ? ReduceKind::Max : ReduceKind::Sum,
                             samples, {2, 4});
  if (!pooling->isMax)
    result = node.binary(BinaryKind::Mul, result, 1.0 / double(s * s));
  return node.finish(node.transpose(result, {0, 3, 1, 2}));
}

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

/// Blocks that touch each other: [block * count] along `dim` becomes
/// [count * block].
Value putSideBySide(OnnxNode &node, Value x, int64_t dim, int64_t block) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x)), apart = shape, perm;
  apart[dim] = shape[dim] / block;
  apart.insert(apart.begin() + dim, block);
  for (int64_t i = 0; i < int64_t(apart.size()); ++i)
    perm.push_back(i);
  std::swap(perm[dim], perm[dim + 1]);
  return node.reshape(node.transpose(node.reshape(x, apart), perm), shape);
}

/// Blocks one element apart: each element of a block is a run of the image.
Value addRuns(OnnxNode &node, Value x, int64_t dim, int64_t size,
              const WindowSpec &window, unsigned d) {
  int64_t count = window.out[d], rank = OnnxNode::rankOf(x);
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x)), part(shape);
  shape[dim] = size;
  Value sum;
  for (int64_t b = 0; b < window.size[d]; ++b) {
    int64_t to = b * window.dilations[d] - window.low[d];
    int64_t begin = std::max<int64_t>(-to, 0), end = std::min(count, size - to);
    if (begin >= end)
      continue;
    SmallVector<int64_t> starts(rank, 0), low(rank, 0), high(rank, 0);
    starts[dim] = b * count + begin;
    part[dim] = end - begin;
    low[dim] = to + begin;
    high[dim] = size - (to + end);
    Value term = node.slice(x, starts, part);
    if (part != shape)
      term = node.create<PadOp>(OnnxNode::typeOf(x).clone(shape), term, low,
                                high, llvm::APFloat(0.0));
    sum = sum ? node.binary(BinaryKind::Add, sum, term) : term;
  }
  return sum ? sum : node.splat(OnnxNode::typeOf(x).clone(shape), 0);
}

/// The place of element `b` of block `i` in the image.
int64_t placeOf(const WindowSpec &window, unsigned d, int64_t b, int64_t i) {
  return i * window.strides[d] - window.low[d] + b * window.dilations[d];
}

/// Blocks of which too many elements may reach one of the image.
Value scatterBlocks(OnnxNode &node, Value x, int64_t dim,
                    ArrayRef<int64_t> shape, const WindowSpec &window,
                    unsigned d) {
  SmallVector<int64_t> rows;
  for (int64_t b = 0; b < window.size[d]; ++b)
    for (int64_t i = 0; i < window.out[d]; ++i) {
      int64_t to = placeOf(window, d, b, i);
      rows.push_back(to < shape[dim] ? std::max<int64_t>(to, -1) : -1);
    }
  int64_t count = rows.size();
  return combineRows(node, ReduceKind::Sum,
                     node.splat(OnnxNode::typeOf(x).clone(shape), 0),
                     node.scalarInts(rows, {count}), x, dim);
}

/// Blocks [..., block * count, ...] along `dim` put together to `size`
/// elements: each reads those that reach it, with constant indices.
Value foldAlong(OnnxNode &node, Value x, int64_t dim, int64_t size,
                const WindowSpec &window, unsigned d) {
  constexpr int64_t kMostTerms = 64;
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  shape[dim] = size;
  bool touches = window.size[d] == window.strides[d] &&
                 window.dilations[d] == 1 && window.low[d] == 0 &&
                 size == window.size[d] * window.out[d];
  if (touches)
    return putSideBySide(node, x, dim, window.size[d]);
  if (window.size[d] >
      kMostTerms * (window.dilations[d] > 1 ? 1 : window.strides[d]))
    return scatterBlocks(node, x, dim, shape, window, d);
  if (window.strides[d] == 1)
    return addRuns(node, x, dim, size, window, d);
  SmallVector<SmallVector<int64_t>> sources(size);
  for (int64_t b = 0; b < window.size[d]; ++b)
    for (int64_t i = 0; i < window.out[d]; ++i)
      if (int64_t to = placeOf(window, d, b, i); to >= 0 && to < size)
        sources[to].push_back(b * window.out[d] + i);
  size_t most = 0;
  for (const auto &list : sources)
    most = std::max(most, list.size());
  Value sum;
  for (size_t number = 0; number < most; ++number) {
    SmallVector<int64_t> from, there;
    for (const auto &list : sources) {
      there.push_back(number < list.size());
      from.push_back(there.back() ? list[number] : 0);
    }
    Value term = node.gather(x, node.scalarInts(from, {size}), dim);
    if (llvm::is_contained(there, 0)) {
      Value isThere = node.convert(node.scalarInts(there, {size}),
                                   node.builder.getI1Type());
      term = node.select(node.broadcastDims(isThere, shape, {dim}), term,
                         node.splatLike(term, 0));
    }
    sum = sum ? node.binary(BinaryKind::Add, sum, term) : term;
  }
  return sum ? sum : node.splat(OnnxNode::typeOf(x).clone(shape), 0);
}

/// The blocks that a window over `image` makes.
FailureOr<WindowSpec> blocksOf(OnnxNode &node, ArrayRef<int64_t> image,
                               ArrayRef<int64_t> block) {
  constexpr int64_t kMostElements = 1 << 17; // of a dimension, for its table
  for (auto [size, window] : llvm::zip_equal(image, block))
    if (size < 1 || size > kMostElements || window < 1 ||
        window > kMostElements)
      return node.error("its image or block has a dimension that is out of "
                        "range");
  FailureOr<WindowSpec> window = windowOf(node, block, image);
  if (failed(window))
    return failure();
  for (auto [taps, places] : llvm::zip_equal(window->size, window->out))
    if (places > kMostElements || taps > 8 * kMostElements / places)
      return node.error("its blocks are too many");
  return window;
}

LogicalResult col2Im(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> image = node.ints(1), block = node.ints(2);
  if (failed(image) || failed(block) || failed(node.requireRank(0, 3, 3)))
    return failure();
  if (OnnxNode::elementOf(node.input(0)).isInteger(1))
    return wrongElement(node, 0, "must be of a type with sums");
  size_t spatial = image->size();
  if (spatial < 1 || spatial > 8 || block->size() != spatial)
    return node.error("its image and block must have the same 1 to 8 "
                      "dimensions");
  FailureOr<WindowSpec> window = blocksOf(node, *image, *block);
  if (failed(window))
    return failure();
  std::optional<uint64_t> taps = countElements(*block, 1),
                          places = countElements(window->out, 1);
  ArrayRef<int64_t> x = node.shape(0);
  if (!taps || !places || x[1] % int64_t(*taps) || x[2] != int64_t(*places))
    return node.error("its input is " + OnnxNode::typeText(node.input(0)) +
                      ", which does not fit the blocks of its image");
  SmallVector<int64_t> result{x[0], x[1] / int64_t(*taps)};
  llvm::append_range(result, *image);
  if (!countElements(result, 16))
    return node.error("its image is too large");
  SmallVector<int64_t> apart{x[0], x[1] / int64_t(*taps)}, perm{0, 1},
      lines(apart);
  llvm::append_range(apart, *block);
  llvm::append_range(apart, window->out);
  for (size_t d = 0; d < spatial; ++d) {
    perm.push_back(2 + d);
    perm.push_back(2 + spatial + d);
    lines.push_back((*block)[d] * window->out[d]);
  }
  Value folded = node.reshape(
      node.transpose(node.reshape(node.input(0), apart), perm), lines);
  for (size_t d = 0; d < spatial; ++d)
    folded = foldAlong(node, folded, 2 + d, (*image)[d], *window, d);
  return node.finish(folded);
}

constexpr StringLiteral kRoiAlign =
    "mode:string output_height:int output_width:int sampling_ratio:int "
    "spatial_scale:float";
constexpr StringLiteral kRoiAlign16 =
    "coordinate_transformation_mode:string mode:string output_height:int "
    "output_width:int sampling_ratio:int spatial_scale:float";

const OnnxOp kOps[] = {
    {"RoiAlign", "10", 3, 3, kRoiAlign, widen<roiAlign>},
    {"RoiAlign", "16 22", 3, 3, kRoiAlign16, widen<roiAlign>},
    {"Col2Im", "18", 3, 3, "dilations:ints pads:ints strides:ints",
     widen<col2Im>},
};
} // namespace

ArrayRef<OnnxOp> regionOps() { return kOps; }

} // namespace autopar
