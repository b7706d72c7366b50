//===- OnnxOpsIntegerProducts.cpp - ONNX products of 8-bit integers -------===//
//
// Sums of products of 8-bit integers are exact in i32. Libraries multiply
// floats fast, and an f32 holds each integer up to 2^24 only, which a sum of
// 258 products of two 9-bit differences stays below. So the terms are cut into
// parts of so many, a dimension of their own: one library call computes the
// parts as f32, and they are added up as i32.
//
//   "mk,kn->mn" of k = 512  =>  "mck,ckn->cmn" of c = 2, k = 256;
//                               convert to i32; reduce sum over c
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "ElementTypes.h"
#include "OnnxTensor.h"
#include "QuantizedValues.h"
#include "WindowAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// `count` parts of `size` terms each; together perhaps more than there are.
struct Parts {
  int64_t count, size;
};

/// Parts of at most `most` of `terms`: whole vectors of `lanes` if that makes
/// not many more, else parts without padding.
Parts cutTerms(int64_t terms, int64_t most, int64_t lanes) {
  int64_t least = std::max<int64_t>(llvm::divideCeilSigned(terms, most), 1);
  for (bool whole : {true, false})
    for (int64_t count = least; count <= 2 * least && count <= terms; ++count)
      if (terms % count == 0 && (!whole || terms / count % lanes == 0))
        return {count, terms / count};
  return {least, llvm::divideCeilSigned(terms, least)};
}

/// Dimension `dim` of x, with zeros at its end, as two: parts and terms.
Value cutAlong(OnnxNode &node, Value x, int64_t dim, const Parts &parts) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x)), low(shape.size(), 0), high;
  high = low;
  high[dim] = parts.count * parts.size - shape[dim];
  shape[dim] += high[dim];
  if (high[dim] > 0)
    x = node.create<PadOp>(OnnxNode::typeOf(x).clone(shape), x, low, high,
                           llvm::APFloat(0.0));
  shape[dim] = parts.size;
  shape.insert(shape.begin() + dim, parts.count);
  return node.reshape(x, shape);
}

/// The parts along `dim`, which are whole numbers, added up as i32.
Value addParts(OnnxNode &node, Value parts, int64_t dim) {
  return node.reduce(ReduceKind::Sum,
                     node.convert(parts, node.builder.getI32Type()), {dim});
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Input i, a scale or zero point of a matrix whose shape is `shape`, with one
/// number per row (`dim` is the last dimension but one) or column, or for all:
/// as it broadcasts to the matrix. Null if it is not there.
FailureOr<Value> alongMatrix(OnnxNode &node, unsigned i,
                             ArrayRef<int64_t> shape, int64_t dim) {
  if (!node.has(i))
    return Value();
  ArrayRef<int64_t> given = node.shape(i);
  if (isOneNumber(node.input(i)))
    return node.reshape(node.input(i), {});
  int64_t rank = shape.size();
  SmallVector<int64_t> wanted(shape);
  if (rank >= 2) {
    SmallVector<int64_t> alone(rank, 1);
    wanted[dim == rank - 1 ? rank - 2 : rank - 1] = 1;
    alone[dim] = shape[dim];
    if (given == shape.slice(dim, 1))
      return node.reshape(node.input(i), alone);
    bool fits = int64_t(given.size()) == rank;
    for (int64_t d = 0; fits && d < rank; ++d)
      fits = given[d] == wanted[d] || given[d] == 1;
    if (fits)
      return node.input(i);
  }
  return node.error("its input " + Twine(i) + " is " +
                    OnnxNode::typeText(node.input(i)) +
                    "; it must be one number, or hold one per " +
                    (dim == rank - 1 ? "column" : "row"));
}

/// The inputs that are a product's operands and zero points.
struct Places {
  unsigned lhs, lhsZero, rhs, rhsZero;
};

FailureOr<WholeFactor> matrixFactor(OnnxNode &node, unsigned i, unsigned zeroAt,
                                    int64_t dim) {
  FailureOr<Value> zero = alongMatrix(node, zeroAt, node.shape(i), dim);
  if (failed(zero))
    return failure();
  if (!*zero)
    return wholeFactor(node, node.input(i), Value(), std::nullopt);
  return wholeFactor(node, node.input(i),
                     node.broadcastTo(*zero, node.shape(i)),
                     node.knownNumbers(zeroAt));
}

/// The product of two 8-bit matrices minus their zero points, as i32.
FailureOr<Value> wholeMatrixProduct(OnnxNode &node, const Places &at) {
  if (failed(requireBytes(node, {at.lhs, at.lhsZero, at.rhs, at.rhsZero})))
    return failure();
  FailureOr<MatrixProduct> product =
      matrixProductOf(node, node.input(at.lhs), node.input(at.rhs));
  if (failed(product))
    return failure();
  FailureOr<WholeFactor> lhs =
      matrixFactor(node, at.lhs, at.lhsZero, node.rank(at.lhs) - 2);
  FailureOr<WholeFactor> rhs =
      matrixFactor(node, at.rhs, at.rhsZero, node.rank(at.rhs) - 1);
  if (failed(lhs) || failed(rhs))
    return failure();
  auto &[a, b, result] = *product;
  a.value = lhs->value;
  b.value = rhs->value;
  constexpr int64_t kLanes = 16;
  Parts parts = cutTerms(a.size('k'), exactTerms(*lhs, *rhs), kLanes);
  if (parts.count == 1)
    return node.convert(contract(node, a, b, result).value,
                        node.builder.getI32Type());
  SmallVector<int64_t> sums{parts.count};
  for (char letter : result)
    sums.push_back(std::max<int64_t>(a.has(letter) ? a.size(letter) : 1,
                                     b.has(letter) ? b.size(letter) : 1));
  if (!countElements(sums, 16))
    return node.error("its sums are too many");
  for (Term *term : {&a, &b}) {
    size_t dim = term->find('k');
    term->value = cutAlong(node, term->value, dim, parts);
    term->letters.insert(dim, 1, 'c');
  }
  return addParts(
      node, contract(node, a, b, ("c" + StringRef(result)).str()).value, 0);
}

LogicalResult matMulInteger(OnnxNode &node) {
  FailureOr<Value> sums = wholeMatrixProduct(node, {0, 2, 1, 3});
  return failed(sums) ? failure() : node.finish(*sums);
}

//===----------------------------------------------------------------------===//
// Results of few bits
//===----------------------------------------------------------------------===//

/// One factor for what is summed, of three scales that broadcast to `shape`:
/// lhs * rhs / result. Small as long as the scales are.
FailureOr<Value> factorOf(OnnxNode &node, Value lhs, Value rhs, Value result,
                          ArrayRef<int64_t> shape) {
  FailureOr<SmallVector<int64_t>> common =
      node.broadcastShape({lhs, rhs, result});
  if (failed(common))
    return failure();
  auto spread = [&](Value scale) {
    return node.broadcastTo(node.widened(scale), *common);
  };
  Value factor = node.binary(
      BinaryKind::Div, node.binary(BinaryKind::Mul, spread(lhs), spread(rhs)),
      spread(result));
  return node.broadcastTo(factor, shape);
}

/// saturate(round(sums * factor) + zero) in the type of the zero point.
Value requantize(OnnxNode &node, Value sums, Value factor, Value zero) {
  Value scaled = node.binary(
      BinaryKind::Mul, node.convert(sums, OnnxNode::elementOf(factor)), factor);
  return saturate(node, scaled, node.broadcastTo(zero, OnnxNode::shapeOf(sums)),
                  OnnxNode::elementOf(zero));
}

LogicalResult requireScales(OnnxNode &node, ArrayRef<unsigned> inputs) {
  for (unsigned i : inputs) {
    if (failed(node.requireFloat(i)))
      return failure();
    if (OnnxNode::elementOf(node.input(i)).isF64())
      return wrongElement(node, i,
                          "must be FLOAT, FLOAT16 or BFLOAT16: a scale");
  }
  return success();
}

/// Inputs: a, its scale and zero point, b and its, the result's.
LogicalResult qLinearMatMul(OnnxNode &node) {
  if (failed(requireScales(node, {1, 4, 6})) || failed(requireBytes(node, {7})))
    return failure();
  FailureOr<Value> sums = wholeMatrixProduct(node, {0, 2, 3, 5});
  if (failed(sums))
    return failure();
  // Per row or column of the product; of a vector it has one dimension less.
  SmallVector<int64_t> shape(OnnxNode::shapeOf(*sums));
  SmallVector<int64_t> whole(shape);
  if (node.rank(3) == 1)
    whole.push_back(1);
  if (node.rank(0) == 1)
    whole.insert(whole.end() - 1, 1);
  int64_t row = int64_t(whole.size()) - 2;
  FailureOr<Value> lhs = alongMatrix(node, 1, node.shape(0), node.rank(0) - 2),
                   rhs = alongMatrix(node, 4, node.shape(3), node.rank(3) - 1),
                   result = alongMatrix(node, 6, whole, row),
                   zero = alongMatrix(node, 7, whole, row);
  if (failed(lhs) || failed(rhs) || failed(result) || failed(zero))
    return failure();
  FailureOr<Value> factor = factorOf(node, *lhs, *rhs, *result, whole);
  if (failed(factor))
    return failure();
  Value scaled = requantize(node, node.reshape(*sums, whole), *factor, *zero);
  return node.finish(node.reshape(scaled, shape));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The channels of each group cut into parts, which are groups of their own:
/// [n, g*c, ...] with [g*o, c, window...] => [n, g*parts*c', ...] with
/// [g*parts*o, c', window...].
Value convolveParts(OnnxNode &node, Value x, Value w, const WindowSpec &window,
                    int64_t groups, const Parts &parts) {
  ArrayRef<int64_t> image = OnnxNode::shapeOf(x), filter = OnnxNode::shapeOf(w);
  int64_t n = image[0], channels = filter[1], outputs = filter[0] / groups;
  SmallVector<int64_t> wide{n, groups, channels};
  llvm::append_range(wide, image.drop_front(2));
  SmallVector<int64_t> flat{n, groups * parts.count * parts.size};
  llvm::append_range(flat, image.drop_front(2));
  x = node.reshape(cutAlong(node, node.reshape(x, wide), 2, parts), flat);

  SmallVector<int64_t> table{groups, outputs, channels},
      small{groups * parts.count * outputs, parts.size};
  llvm::append_range(table, filter.drop_front(2));
  llvm::append_range(small, filter.drop_front(2));
  w = cutAlong(node, node.reshape(w, table), 2, parts);
  SmallVector<int64_t> perm{0, 2, 1};
  for (int64_t d = 3; d < OnnxNode::rankOf(w); ++d)
    perm.push_back(d);
  w = node.reshape(node.transpose(w, perm), small);

  Value y = convolve(node, x, w, window, groups * parts.count);
  SmallVector<int64_t> apart{n, groups, parts.count, outputs},
      result{n, groups * outputs};
  llvm::append_range(apart, window.out);
  llvm::append_range(result, window.out);
  y = node.unary(UnaryKind::Round, node.reshape(y, apart));
  return node.reshape(addParts(node, y, 2), result);
}

/// The convolution of whole numbers as i32. What pads is 0 after zero points
/// are subtracted. A library may transform what it convolves (Winograd): its
/// result is next to a whole number.
Value wholeConvolution(OnnxNode &node, WholeFactor x, WholeFactor w,
                       const WindowSpec &window, int64_t groups) {
  int64_t channels = OnnxNode::shapeOf(w.value)[1], reach = 1;
  for (int64_t size : window.size)
    reach = std::min<int64_t>(reach * size, int64_t(1) << 32);
  int64_t most = exactTerms(x, w) / reach;
  constexpr int64_t kLanes = 16;
  Parts parts = cutTerms(channels, std::max<int64_t>(most, 1), kLanes);
  if (most > 0 && parts.count > 1)
    return convolveParts(node, x.value, w.value, window, groups, parts);
  // If one window has more terms than f32 sums exactly, f64 is used, which
  // holds all sums.
  Type element = most > 0 ? Type(node.builder.getF32Type())
                          : Type(node.builder.getF64Type());
  Value y = convolve(node, node.convert(x.value, element),
                     node.convert(w.value, element), window, groups);
  return node.convert(node.unary(UnaryKind::Round, y),
                      node.builder.getI32Type());
}

/// Image and filter minus zero points, checked.
FailureOr<Value> wholeConvolution(OnnxNode &node, const Places &at) {
  if (failed(requireBytes(node, {at.lhs, at.lhsZero, at.rhs, at.rhsZero})) ||
      failed(node.requireRank(at.lhs, 3, 5)) ||
      failed(node.requireRank(at.rhs, node.rank(at.lhs), node.rank(at.lhs))))
    return failure();
  ArrayRef<int64_t> x = node.shape(at.lhs), w = node.shape(at.rhs);
  int64_t groups = node.getInt("group", 1);
  if (failed(checkFilter(node, x, w, groups)))
    return failure();
  if (node.has(at.lhsZero) && !isOneNumber(node.input(at.lhsZero)))
    return node.error("the zero point of its image must be one number");
  bool isOne = node.has(at.rhsZero) && isOneNumber(node.input(at.rhsZero));
  if (node.has(at.rhsZero) && !isOne &&
      node.shape(at.rhsZero) != w.take_front())
    return node.error("the zero point of its filter must be one number, or "
                      "hold one per output channel");
  FailureOr<WindowSpec> window =
      windowOf(node, w.drop_front(2), x.drop_front(2));
  if (failed(window))
    return failure();
  SmallVector<int64_t> sums{x[0], w[0], w[1]}; // at most w[1] parts
  llvm::append_range(sums, window->out);
  if (!countElements(sums, 16))
    return node.error("its sums are too many");
  auto factor = [&](unsigned i, unsigned zeroAt, bool one) {
    if (!node.has(zeroAt))
      return wholeFactor(node, node.input(i), Value(), std::nullopt);
    Value zero =
        one ? spreadNumber(node, node.input(zeroAt), node.shape(i))
            : node.broadcastDims(node.input(zeroAt), node.shape(i), {0});
    return wholeFactor(node, node.input(i), zero, node.knownNumbers(zeroAt));
  };
  WholeFactor image = factor(at.lhs, at.lhsZero, true),
              filter = factor(at.rhs, at.rhsZero, isOne);
  return wholeConvolution(node, image, filter, *window, groups);
}

LogicalResult convInteger(OnnxNode &node) {
  FailureOr<Value> sums = wholeConvolution(node, {0, 2, 1, 3});
  return failed(sums) ? failure() : node.finish(*sums);
}

/// Inputs: x, its scale and zero point, the filter and its, the result's, and
/// a bias as i32.
LogicalResult qLinearConv(OnnxNode &node) {
  if (failed(requireScales(node, {1, 4, 6})) || failed(requireBytes(node, {7})))
    return failure();
  for (unsigned i : {1, 6, 7})
    if (!isOneNumber(node.input(i)))
      return node.error("its input " + Twine(i) + " must be one number");
  if (node.has(8) && !OnnxNode::elementOf(node.input(8)).isSignlessInteger(32))
    return wrongElement(node, 8, "must be of type INT32");
  FailureOr<Value> sums = wholeConvolution(node, {0, 2, 3, 5});
  if (failed(sums) || failed(checkBias(node, 8, node.shape(3)[0])))
    return failure();
  Value y = *sums, scale = node.input(4);
  if (node.has(8))
    y = node.binaryAlong(BinaryKind::Add, y, node.input(8), 1);
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(y);
  SmallVector<int64_t> along(shape.size() - 1, 1);
  along[0] = shape[1];
  if (!isOneNumber(scale) && node.shape(4) != shape.slice(1, 1))
    return node.error("the scale of its filter must be one number, or hold one "
                      "per output channel");
  scale =
      isOneNumber(scale) ? node.reshape(scale, {}) : node.reshape(scale, along);
  FailureOr<Value> factor =
      factorOf(node, node.reshape(node.input(1), {}), scale,
               node.reshape(node.input(6), {}), shape);
  if (failed(factor))
    return failure();
  return node.finish(
      requantize(node, y, *factor, node.reshape(node.input(7), {})));
}

constexpr StringLiteral kConv = "auto_pad:string dilations:ints group:int "
                                "kernel_shape:ints pads:ints strides:ints";

const OnnxOp kOps[] = {
    {"MatMulInteger", "10", 2, 4, "", matMulInteger},
    {"ConvInteger", "10", 2, 4, kConv, convInteger},
    {"QLinearMatMul", "10 21", 8, 8, "", qLinearMatMul},
    {"QLinearConv", "10", 8, 9, kConv, qLinearConv},
};
} // namespace

ArrayRef<OnnxOp> integerProductOps() { return kOps; }

} // namespace autopar
