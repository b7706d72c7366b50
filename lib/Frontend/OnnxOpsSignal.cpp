//===- OnnxOpsSignal.cpp - ONNX Fourier transforms and windows ------------===//
//
// A short transform is one matrix multiplication: a signal [m, n, p] of real
// and imaginary parts times a table [n, p, k, q]. A long one of n = a * b is
// two short ones with a turn of each element between them (Cooley and Tukey).
// Tables depend on no input: @setup makes them.
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"
#include "OnnxTensor.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

constexpr int64_t kMostLength = 1 << 24;

//===----------------------------------------------------------------------===//
// Transforms of [m, n, p]
//===----------------------------------------------------------------------===//

/// A transform of at most kShortLength elements is one multiplication; a longer
/// one is that only if its length has no factors, up to kLongestTable.
constexpr int64_t kShortLength = 128, kLongestTable = 2048;

/// The largest factor of n that its square does not exceed; 1 of a prime.
int64_t factorOf(int64_t n) {
  int64_t best = 1;
  for (int64_t factor = 2; factor * factor <= n; ++factor)
    if (n % factor == 0)
      best = factor;
  return best;
}

LogicalResult checkLength(OnnxNode &node, int64_t n) {
  if (n < 1 || n > kMostLength)
    return node.error("its length " + Twine(n) + " is out of range");
  int64_t rest = n;
  for (int64_t factor = 2; factor * factor <= rest; ++factor)
    while (rest % factor == 0 && rest > factor)
      rest /= factor;
  if (rest > kLongestTable)
    return node.error("its length " + Twine(n) + " has the prime factor " +
                      Twine(rest) + "; at most " + Twine(kLongestTable) +
                      " are supported: pad the signal");
  return success();
}

/// Positions along these dimensions of `shape` are i, j, p and q; the dimension
/// -1 stands for 0.
struct Turns {
  SmallVector<int64_t> shape;
  int64_t i, j, p, q;
};

/// cos(2 pi * i * j / n + (q - p) * pi / 2): what part p of element i gives to
/// part q of element j. Computed in f64.
Value turnTable(OnnxNode &node, const Turns &turns, int64_t n, bool inverse,
                Type element) {
  auto type = RankedTensorType::get(turns.shape, node.builder.getI64Type());
  Value product = node.binary(BinaryKind::Mul, node.iota(type, turns.i),
                              node.iota(type, turns.j));
  product = node.binary(BinaryKind::Mod, product, double(n));
  Value quarters = node.binary(BinaryKind::Mul, product, inverse ? -4.0 : 4.0);
  auto addQuarters = [&](int64_t dim, double sign) {
    if (dim >= 0)
      quarters = node.binary(
          BinaryKind::Add, quarters,
          node.binary(BinaryKind::Mul, node.iota(type, dim), sign * n));
  };
  addQuarters(turns.q, 1);
  addQuarters(turns.p, -1);
  Value angle = node.binary(BinaryKind::Mul,
                            node.convert(quarters, node.builder.getF64Type()),
                            M_PI_2 / double(n));
  return node.convert(node.unary(UnaryKind::Cos, angle), element);
}

/// The first `count` elements of the transform, of their `parts` the first
/// ones: [m, count, parts].
Value transformShort(OnnxNode &node, Value x, int64_t count, int64_t parts,
                     bool inverse) {
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  Value table =
      turnTable(node, {{shape[1], shape[2], count, parts}, 0, 2, 1, 3},
                shape[1], inverse, OnnxNode::elementOf(x));
  return node.einsum("mnp", "npkq", "mkq", x, table);
}

/// Each x[m, j, i] turned by i * j of n: a part times the cosine, and the other
/// part times the sine with its sign.
Value turned(OnnxNode &node, Value x, int64_t n, bool inverse) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x)); // [m, j, i, 2]
  Value table = turnTable(node, {{shape[1], shape[2], 2, 2}, 0, 1, 2, 3}, n,
                          inverse, OnnxNode::elementOf(x));
  auto along = [&](int64_t p, int64_t q) {
    return node.slice(table, {0, 0, p, q}, {shape[1], shape[2], 1, 1});
  };
  auto spread = [&](Value first, Value second) {
    Value both = node.concat({first, second}, 3);
    return node.broadcastDims(node.dropDim(both, 2), shape, {1, 2, 3});
  };
  Value swapped = node.slice(x, {0, 0, 0, 1}, shape, {1, 1, 1, -1});
  Value same = spread(along(0, 0), along(1, 1)),
        other = spread(along(1, 0), along(0, 1));
  return node.binary(BinaryKind::Add, node.binary(BinaryKind::Mul, x, same),
                     node.binary(BinaryKind::Mul, swapped, other));
}

/// The whole transform [m, n, 2].
Value transform(OnnxNode &node, Value x, bool inverse) {
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  int64_t m = shape[0], n = shape[1], p = shape[2], a = factorOf(n);
  if (n <= kShortLength || a == 1)
    return transformShort(node, x, n, 2, inverse);
  int64_t b = n / a;
  // Element b * i + j: transforms along i, for each j.
  x = node.transpose(node.reshape(x, {m, a, b, p}), {0, 2, 1, 3});
  x = transform(node, node.reshape(x, {m * b, a, p}), inverse);
  x = turned(node, node.reshape(x, {m, b, a, 2}), n, inverse);
  // Then along j; its element k has number i + a * k.
  x = node.reshape(node.transpose(x, {0, 2, 1, 3}), {m * a, b, 2});
  x = node.reshape(transform(node, x, inverse), {m, a, b, 2});
  return node.reshape(node.transpose(x, {0, 2, 1, 3}), {m, n, 2});
}

Value transformPart(OnnxNode &node, Value x, int64_t count, int64_t parts,
                    bool inverse) {
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  if (shape[1] <= kShortLength || factorOf(shape[1]) == 1)
    return transformShort(node, x, count, parts, inverse);
  int64_t m = shape[0];
  return node.slice(transform(node, x, inverse), {0, 0, 0}, {m, count, parts});
}

/// Dimension 1 cut, or padded with zeros, to n elements.
Value cutOrPad(OnnxNode &node, Value x, int64_t n) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x));
  int64_t more = n - shape[1];
  shape[1] = n;
  if (more <= 0)
    return node.slice(x, {0, 0, 0}, shape);
  return node.create<PadOp>(OnnxNode::typeOf(x).clone(shape), x,
                            ArrayRef<int64_t>{0, 0, 0},
                            ArrayRef<int64_t>{0, more, 0}, llvm::APFloat(0.0));
}

/// Completes a spectrum of n elements from its first n / 2 + 1: the others
/// mirror them, with imaginary parts of the other sign.
Value mirrored(OnnxNode &node, Value x, int64_t n) {
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  int64_t m = shape[0], rest = n - shape[1];
  if (rest < 1)
    return x;
  Value back = node.slice(x, {0, rest, 0}, {m, rest, 2}, {1, -1, 1});
  Value signs = node.floats({1, -1}, OnnxNode::elementOf(x));
  back = node.binary(BinaryKind::Mul, back,
                     node.broadcastDims(signs, {m, rest, 2}, {2}));
  return node.concat({x, back}, 1);
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

FailureOr<int64_t> transformAxis(OnnxNode &node) {
  int64_t given = node.getInt("axis", 1);
  if (node.version >= 20) {
    given = -2;
    if (node.has(2)) {
      FailureOr<int64_t> axis = node.scalarInt(2);
      if (failed(axis))
        return failure();
      given = *axis;
    }
  }
  FailureOr<int64_t> axis = node.normalizeAxis(given, node.rank(0));
  if (succeeded(axis) && *axis == node.rank(0) - 1)
    return node.error("axis " + Twine(given) +
                      " holds real and imaginary parts");
  return axis;
}

LogicalResult dft(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  int64_t rank = node.rank(0);
  if (rank < 2 || node.shape(0).back() < 1 || node.shape(0).back() > 2)
    return node.error("its input is " + OnnxNode::typeText(node.input(0)) +
                      "; its last dimension must hold one or two numbers");
  FailureOr<int64_t> axis = transformAxis(node);
  if (failed(axis))
    return failure();
  bool inverse = node.getInt("inverse", 0), half = node.getInt("onesided", 0);
  SmallVector<int64_t> shape(node.shape(0));
  if (half && (shape.back() == 2) != inverse)
    return node.error(inverse ? "a onesided spectrum must be complex"
                              : "a onesided result needs a real input");
  int64_t n = inverse && half ? 2 * (shape[*axis] - 1) : shape[*axis];
  if (node.has(1)) {
    FailureOr<int64_t> given = node.scalarInt(1);
    if (failed(given))
      return failure();
    n = *given;
  }
  if (failed(checkLength(node, n)))
    return failure();
  SmallVector<int64_t> perm, back(rank);
  for (int64_t d = 0; d < rank - 1; ++d)
    if (d != *axis)
      perm.push_back(d);
  perm.push_back(*axis);
  perm.push_back(rank - 1);
  SmallVector<int64_t> moved;
  for (auto [to, from] : llvm::enumerate(perm)) {
    moved.push_back(shape[from]);
    back[from] = to;
  }
  int64_t rows = 1;
  for (int64_t size : ArrayRef<int64_t>(moved).drop_back(2))
    rows *= size;
  if (!countElements({rows, n, 4}, 16))
    return node.error("its result is too large");
  Value x = node.reshape(node.transpose(node.input(0), perm),
                         {rows, shape[*axis], shape.back()});
  int64_t count = half && !inverse ? n / 2 + 1 : n;
  int64_t parts = half && inverse ? 1 : 2;
  x = cutOrPad(node, x, inverse && half ? n / 2 + 1 : n);
  if (inverse && half)
    x = mirrored(node, x, n);
  x = transformPart(node, x, count, parts, inverse);
  if (inverse)
    x = node.binary(BinaryKind::Mul, x, 1.0 / double(n));
  moved[rank - 2] = count;
  moved[rank - 1] = parts;
  return node.finish(node.transpose(node.reshape(x, moved), back));
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

/// The length of a frame: stated, the window's, or the signal's.
FailureOr<int64_t> frameLength(OnnxNode &node) {
  if (node.has(2) && failed(node.requireRank(2, 1, 1)))
    return failure();
  int64_t length = node.has(2) ? node.shape(2)[0] : node.shape(0)[1];
  if (!node.has(3))
    return length;
  FailureOr<int64_t> stated = node.scalarInt(3);
  if (succeeded(stated) && node.has(2) && *stated != length)
    return node.error("its window has " + Twine(length) +
                      " elements, its frames " + Twine(*stated));
  return stated;
}

/// Transforms of overlapping frames [b, f, n, p] of signals [b, l, p].
LogicalResult stft(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 3)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  if (shape[2] < 1 || shape[2] > 2)
    return node.error("its last dimension must hold one or two numbers");
  if (node.has(2) &&
      OnnxNode::elementOf(node.input(2)) != OnnxNode::elementOf(node.input(0)))
    return differentElements(node, 0, 2);
  FailureOr<int64_t> step = node.scalarInt(1), length = frameLength(node);
  if (failed(step) || failed(length) || failed(checkLength(node, *length)))
    return failure();
  bool half = node.getInt("onesided", 1);
  if (half && shape[2] == 2)
    return node.error("a onesided result needs a real input: set onesided = 0");
  if (*step < 1 || *length > shape[1])
    return node.error("frames of " + Twine(*length) + " elements, one every " +
                      Twine(*step) + ", do not fit a signal of " +
                      Twine(shape[1]));
  int64_t frames = (shape[1] - *length) / *step + 1;
  if (!countElements({shape[0], frames, *length, 2}, 16))
    return node.error("its frames are too many");
  auto type =
      RankedTensorType::get({frames, *length}, node.builder.getI64Type());
  Value at = node.binary(
      BinaryKind::Add,
      node.binary(BinaryKind::Mul, node.iota(type, 0), double(*step)),
      node.iota(type, 1));
  Value x = node.gather(node.input(0), at, 1);
  if (node.has(2))
    x = node.binaryAlong(BinaryKind::Mul, x, node.input(2), 2);
  int64_t count = half ? *length / 2 + 1 : *length;
  x = node.reshape(x, {shape[0] * frames, *length, shape[2]});
  x = transformPart(node, x, count, 2, /*inverse=*/false);
  return node.finish(node.reshape(x, {shape[0], frames, count, 2}));
}

const OnnxOp kOps[] = {
    {"DFT", "17", 1, 2, "axis:int inverse:int onesided:int", widen<dft>},
    {"DFT", "20", 1, 3, "inverse:int onesided:int", widen<dft>},
    {"STFT", "17", 2, 4, "onesided:int", widen<stft>},
};
} // namespace

ArrayRef<OnnxOp> signalOps() { return kOps; }

} // namespace autopar
