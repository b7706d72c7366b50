//===- OnnxOpsSampling.cpp - ONNX reads between the elements of images ----===//
//
// The elements that a point reads (taps), and their weights, are computed from
// its place, dimension by dimension. A tap is a gather of all channels of a
// point at once, from images with their channels last:
//
//   data [n, c, d1, d2] => [n, d1*d2, c];  grid [n, o1, o2, 2] => points [n, o]
//   sum over taps of weight[n, o] * data[n, position[n, o], c]
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OnnxTensor.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

enum class Mode { Nearest, Linear, Cubic };
enum class Padding { Zeros, Border, Reflection };

struct Sampling {
  Mode mode = Mode::Linear;
  Padding padding = Padding::Zeros;
  bool alignsCorners = false;
};

/// Positions are floats; an f32 tells so many apart.
constexpr int64_t kMostPositions = 1 << 24;

FailureOr<Sampling> readSampling(OnnxNode &node) {
  Sampling sampling;
  bool old = node.version < 20;
  StringRef mode = node.getString("mode", old ? "bilinear" : "linear");
  StringRef padding = node.getString("padding_mode", "zeros");
  if (mode == "nearest")
    sampling.mode = Mode::Nearest;
  else if (mode == (old ? "bicubic" : "cubic"))
    sampling.mode = Mode::Cubic;
  else if (mode != (old ? "bilinear" : "linear"))
    return node.error("unknown value '" + mode + "' of mode (known: nearest, " +
                      (old ? "bilinear, bicubic)" : "linear, cubic)"));
  if (padding == "border")
    sampling.padding = Padding::Border;
  else if (padding == "reflection")
    sampling.padding = Padding::Reflection;
  else if (padding != "zeros")
    return node.error("unknown value '" + padding +
                      "' of padding_mode (known: zeros, border, reflection)");
  sampling.alignsCorners = node.getInt("align_corners", 0);
  return sampling;
}

Value clampTo(OnnxNode &node, Value x, double low, double high) {
  return node.binary(BinaryKind::Min, node.binary(BinaryKind::Max, x, low),
                     high);
}

Value isInside(OnnxNode &node, Value x, double low, double high) {
  return node.binary(
      BinaryKind::And,
      node.compare(ComparePredicate::Ge, x, node.splatLike(x, low)),
      node.compare(ComparePredicate::Le, x, node.splatLike(x, high)));
}

/// There and back between two borders: low + width - |mod(x - low) - width|.
Value reflect(OnnxNode &node, Value x, double low, double high) {
  double width = high - low;
  if (width <= 0)
    return node.splatLike(x, low);
  Value along = node.binary(BinaryKind::Mod,
                            node.binary(BinaryKind::Add, x, -low), 2 * width);
  Value fromTurn =
      node.unary(UnaryKind::Abs, node.binary(BinaryKind::Add, along, -width));
  return node.binary(BinaryKind::Sub, node.splatLike(x, low + width), fromTurn);
}

/// An element that points read along one dimension.
struct Tap {
  Value index;  // in the image
  Value weight; // how much it counts; null: all
  Value inside; // whether it is in the image; null: always
};

/// A dimension of the image, and the positions of points in it.
class Line {
public:
  Line(OnnxNode &node, const Sampling &sampling, int64_t size)
      : node(node), sampling(sampling), size(size),
        low(sampling.alignsCorners ? 0 : -0.5),
        high(sampling.alignsCorners ? size - 1 : size - 0.5) {}

  /// `place`: from -1 to 1 along the dimension, as floats.
  SmallVector<Tap> tapsAt(Value place) const;

private:
  Value positionOf(Value place) const;
  Value broughtInside(Value position) const;
  Value weightOf(Value part, int64_t i) const;
  Tap tapOf(Value position) const;

  OnnxNode &node;
  const Sampling &sampling;
  int64_t size;
  double low, high;
};

Value Line::positionOf(Value place) const {
  Value shifted = node.binary(BinaryKind::Add, place, 1.0), position;
  if (sampling.alignsCorners)
    position =
        node.binary(BinaryKind::Mul, node.binary(BinaryKind::Mul, shifted, 0.5),
                    double(size - 1));
  else
    position = node.binary(
        BinaryKind::Mul,
        node.binary(BinaryKind::Add,
                    node.binary(BinaryKind::Mul, shifted, double(size)), -1.0),
        0.5);
  return sampling.mode == Mode::Nearest ? node.unary(UnaryKind::Round, position)
                                        : position;
}

/// A position between an outer element and its border stays there. A cubic
/// sample's taps are brought inside one by one, as in onnxruntime and PyTorch.
Value Line::broughtInside(Value position) const {
  if (sampling.padding == Padding::Zeros ||
      (sampling.padding == Padding::Border && sampling.mode == Mode::Cubic))
    return position;
  Value moved = sampling.padding == Padding::Border
                    ? clampTo(node, position, 0, size - 1)
                    : reflect(node, position, low, high);
  Value y = node.select(isInside(node, position, low, high), position, moved);
  if (sampling.padding != Padding::Border)
    return y;
  return node.function(
      "between", {position}, y,
      {node.number("low", 0), node.number("high", double(size - 1))});
}

/// `position` is a whole number, as a float.
Tap Line::tapOf(Value position) const {
  Tap tap;
  if (sampling.padding == Padding::Zeros)
    tap.inside = isInside(node, position, 0, size - 1);
  // A linear sample needs no reflection: one of its taps at most is beyond a
  // border, by one.
  if (sampling.padding == Padding::Reflection && sampling.mode == Mode::Cubic)
    position = reflect(node, position, low, high);
  tap.index = node.convert(clampTo(node, position, 0, size - 1),
                           node.builder.getI64Type());
  return tap;
}

/// Linear, or of a cubic convolution with a = -0.75. `part` is how far a
/// point is beyond the element before it.
Value Line::weightOf(Value part, int64_t i) const {
  if (sampling.mode == Mode::Linear)
    return i ? part
             : node.binary(BinaryKind::Sub, node.splatLike(part, 1), part);
  constexpr double a = -0.75;
  // The distance from the point, and the polynomial from its highest power on.
  Value distance =
      i < 2 ? node.binary(BinaryKind::Add, part, double(1 - i))
            : node.binary(BinaryKind::Sub, node.splatLike(part, i - 1), part);
  bool isNear = i == 1 || i == 2;
  double powers[] = {isNear ? a + 2 : a, isNear ? -(a + 3) : -5 * a,
                     isNear ? 0 : 8 * a, isNear ? 1 : -4 * a};
  Value sum = node.splatLike(distance, powers[0]);
  for (double power : llvm::drop_begin(powers))
    sum = node.binary(BinaryKind::Add,
                      node.binary(BinaryKind::Mul, sum, distance), power);
  return sum;
}

SmallVector<Tap> Line::tapsAt(Value place) const {
  Value at = broughtInside(positionOf(place));
  if (sampling.mode == Mode::Nearest)
    return {tapOf(at)};
  Value before = node.unary(UnaryKind::Floor, at);
  Value part = node.binary(BinaryKind::Sub, at, before);
  bool isCubic = sampling.mode == Mode::Cubic;
  SmallVector<Tap> taps;
  for (int64_t i = 0; i < (isCubic ? 4 : 2); ++i) {
    int64_t offset = isCubic ? i - 1 : i;
    taps.push_back(tapOf(node.binary(BinaryKind::Add, before, double(offset))));
    taps.back().weight = weightOf(part, i);
  }
  return taps;
}

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

/// Sums over the taps of dimensions `d` and after, of images [n, places, c] at
/// points [n, o].
class Sampler {
public:
  Sampler(OnnxNode &node, Value image, ArrayRef<SmallVector<Tap>> lines,
          ArrayRef<int64_t> sizes)
      : node(node), image(image), lines(lines), sizes(sizes) {}

  Value sample(unsigned d = 0, Value position = {}, Value inside = {}) {
    if (d == lines.size())
      return read(position, inside);
    Value sum;
    for (const Tap &tap : lines[d]) {
      Value here = tap.index, isIn = tap.inside;
      if (position)
        here = node.binary(
            BinaryKind::Add,
            node.binary(BinaryKind::Mul, position, double(sizes[d])), here);
      if (inside)
        isIn = node.binary(BinaryKind::And, inside, isIn);
      Value term = sample(d + 1, here, isIn);
      if (tap.weight)
        term =
            node.binary(BinaryKind::Mul, term, alongChannels(tap.weight, term));
      sum = sum ? node.binary(BinaryKind::Add, sum, term) : term;
    }
    return sum;
  }

private:
  /// [n, o] to [n, o, c].
  Value alongChannels(Value x, Value like) {
    x = OnnxNode::elementOf(x).isInteger(1)
            ? x
            : node.convert(x, OnnxNode::elementOf(like));
    return node.broadcastDims(x, OnnxNode::shapeOf(like), {0, 1});
  }

  Value read(Value position, Value inside) {
    ArrayRef<int64_t> from = OnnxNode::shapeOf(image),
                      points = OnnxNode::shapeOf(position);
    auto type = RankedTensorType::get({from[0], points[1], from[2]},
                                      OnnxNode::elementOf(image));
    Value found = node.create<GatherNdOp>(
        type, image, node.insertDim(position, 2), /*batch_dims=*/1);
    if (!inside)
      return found;
    return node.select(alongChannels(inside, found), found,
                       node.splatLike(found, 0));
  }

  OnnxNode &node;
  Value image;
  ArrayRef<SmallVector<Tap>> lines;
  ArrayRef<int64_t> sizes;
};

LogicalResult checkGrid(OnnxNode &node) {
  if (failed(node.requireRank(0, 3, 5)) || failed(node.requireFloat(1)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  ArrayRef<int64_t> x = node.shape(0), grid = node.shape(1);
  if (grid.front() != x.front() || grid.back() != node.rank(0) - 2)
    return node.error("its grid is " + OnnxNode::typeText(node.input(1)) +
                      "; of an image " + OnnxNode::typeText(node.input(0)) +
                      " it must have the same batch, and " +
                      Twine(node.rank(0) - 2) + " numbers per point");
  for (int64_t size : x.drop_front(2))
    if (size < 1 || size > kMostPositions)
      return node.error("it cannot sample a dimension of size " + Twine(size));
  return success();
}

LogicalResult gridSample(OnnxNode &node) {
  FailureOr<Sampling> sampling = readSampling(node);
  if (failed(sampling) || failed(checkGrid(node)))
    return failure();
  if (sampling->mode != Mode::Nearest && failed(node.requireFloat(0)))
    return failure();
  ArrayRef<int64_t> x = node.shape(0), sizes = x.drop_front(2);
  int64_t spatial = sizes.size(), places = 1, points = 1;
  for (int64_t size : sizes)
    places *= size;
  for (int64_t size : node.shape(1).slice(1, spatial))
    points *= size;
  if (!countElements({x[0], x[1], points}, 16))
    return node.error("its result is too large");
  Value grid =
      node.reshape(node.widened(node.input(1)), {x[0], points, spatial});
  SmallVector<SmallVector<Tap>> lines;
  for (int64_t d = 0; d < spatial; ++d) // a point's first number is the last's
    lines.push_back(Line(node, *sampling, sizes[d])
                        .tapsAt(node.take(grid, 2, spatial - 1 - d)));
  Value image = node.reshape(node.input(0), {x[0], x[1], places});
  image = node.transpose(image, {0, 2, 1});
  if (sampling->mode != Mode::Nearest)
    image = node.widened(image);
  Value result = Sampler(node, image, lines, sizes).sample();
  result = node.convert(node.transpose(result, {0, 2, 1}),
                        node.type(0).getElementType());
  SmallVector<int64_t> shape{x[0], x[1]};
  llvm::append_range(shape, node.shape(1).slice(1, spatial));
  return node.finish(node.reshape(result, shape));
}

//===----------------------------------------------------------------------===//
// AffineGrid
//===----------------------------------------------------------------------===//

/// Centers of `count` elements from -1 to 1, or of the first and last there.
Value placesAlong(OnnxNode &node, int64_t count, bool alignsCorners,
                  Type element) {
  double step =
      alignsCorners ? 2.0 / std::max<int64_t>(count - 1, 1) : 2.0 / count;
  Value at = node.iota(RankedTensorType::get({count}, element), 0);
  return node.binary(BinaryKind::Add, node.binary(BinaryKind::Mul, at, step),
                     alignsCorners ? -1.0 : -1.0 + step / 2);
}

/// theta [n, r, r + 1] times (x, y, ..., 1) at each place of the size's image.
LogicalResult affineGrid(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> size = node.ints(1);
  if (failed(size) || failed(node.requireFloat(0)))
    return failure();
  if (size->size() != 4 && size->size() != 5)
    return node.error("its size must hold 4 or 5 numbers");
  int64_t spatial = int64_t(size->size()) - 2, batch = size->front();
  if (node.shape(0) != ArrayRef<int64_t>({batch, spatial, spatial + 1}))
    return node.error("its theta is " + OnnxNode::typeText(node.input(0)) +
                      "; it must have " + Twine(spatial) + " rows of " +
                      Twine(spatial + 1) + " per image");
  SmallVector<int64_t> shape{batch};
  llvm::append_range(shape, ArrayRef<int64_t>(*size).drop_front(2));
  shape.push_back(spatial);
  for (int64_t extent : ArrayRef<int64_t>(shape).drop_front().drop_back())
    if (extent < 1 || extent > kMostPositions)
      return node.error("its size " + Twine(extent) + " is out of range");
  if (!countElements(shape, 16))
    return node.error("its size is too large");
  bool alignsCorners = node.getInt("align_corners", 0);
  Value theta = node.input(0);
  auto column = [&](int64_t j) { // [n, r] in each place
    return node.broadcastDims(node.take(theta, 2, j), shape, {0, spatial + 1});
  };
  Value sum = column(spatial);
  for (int64_t d = 0; d < spatial; ++d) {
    Value places =
        node.broadcastDims(placesAlong(node, shape[d + 1], alignsCorners,
                                       OnnxNode::elementOf(theta)),
                           shape, {d + 1});
    sum = node.binary(
        BinaryKind::Add, sum,
        node.binary(BinaryKind::Mul, column(spatial - 1 - d), places));
  }
  return node.finish(sum);
}

constexpr StringLiteral kGridSample =
    "align_corners:int mode:string padding_mode:string";

const OnnxOp kOps[] = {
    {"GridSample", "16 20 22", 2, 2, kGridSample, gridSample},
    {"AffineGrid", "20", 2, 2, "align_corners:int", widen<affineGrid>},
};
} // namespace

ArrayRef<OnnxOp> samplingOps() { return kOps; }

} // namespace autopar
