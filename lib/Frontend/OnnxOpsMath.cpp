//===- OnnxOpsMath.cpp - ONNX functions made of simpler ones --------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// Trigonometric and hyperbolic functions
//===----------------------------------------------------------------------===//

/// A function of a float and the node that asks for it.
using Function = Value (*)(OnnxNode &, Value);

template <Function function> LogicalResult floatFunction(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  return node.finish(
      node.convert(function(node, node.widened(x)), OnnxNode::elementOf(x)));
}

Value squareOf(OnnxNode &node, Value x) {
  return node.binary(BinaryKind::Mul, x, x);
}

Value tangent(OnnxNode &node, Value x) {
  return node.binary(BinaryKind::Div, node.unary(UnaryKind::Sin, x),
                     node.unary(UnaryKind::Cos, x));
}

Value arcTangent(OnnxNode &node, Value x) {
  return node.unary(UnaryKind::Atan, x);
}

/// atan(x / sqrt((1 - x)(1 + x)))
Value arcSine(OnnxNode &node, Value x) {
  Value one = node.splatLike(x, 1);
  Value rest =
      node.binary(BinaryKind::Mul, node.binary(BinaryKind::Sub, one, x),
                  node.binary(BinaryKind::Add, one, x));
  Value y = arcTangent(
      node, node.binary(BinaryKind::Div, x, node.unary(UnaryKind::Sqrt, rest)));
  return node.function("asin", {x}, y);
}

/// 2 * atan(sqrt((1 - x) / (1 + x))) keeps its digits near 1.
Value arcCosine(OnnxNode &node, Value x) {
  Value one = node.splatLike(x, 1);
  Value ratio =
      node.binary(BinaryKind::Div, node.binary(BinaryKind::Sub, one, x),
                  node.binary(BinaryKind::Add, one, x));
  Value y =
      node.binary(BinaryKind::Mul,
                  arcTangent(node, node.unary(UnaryKind::Sqrt, ratio)), 2.0);
  return node.function("acos", {x}, y);
}

/// `special` where x is `value`, else `other`.
Value unlessEqual(OnnxNode &node, Value x, double value, Value special,
                  Value other) {
  return node.select(
      node.compare(ComparePredicate::Eq, x, node.splatLike(x, value)), special,
      other);
}

/// log(1 + x): of w = 1 + x as it is rounded, log(w) * x / (w - 1), which has
/// the digits that 1 + x lost.
Value logOnePlus(OnnxNode &node, Value x) {
  Value w = node.binary(BinaryKind::Add, x, 1.0);
  Value ratio =
      node.binary(BinaryKind::Div, x, node.binary(BinaryKind::Sub, w, 1.0));
  Value log =
      node.binary(BinaryKind::Mul, node.unary(UnaryKind::Log, w), ratio);
  log = unlessEqual(node, w, 1, x, log);
  return unlessEqual(node, x, std::numeric_limits<double>::infinity(), x, log);
}

/// exp(x) - 1 of small x, in the same way.
Value expMinusOne(OnnxNode &node, Value x) {
  Value w = node.unary(UnaryKind::Exp, x);
  Value ratio = node.binary(BinaryKind::Div, x, node.unary(UnaryKind::Log, w));
  Value power =
      node.binary(BinaryKind::Mul, node.binary(BinaryKind::Sub, w, 1.0), ratio);
  return unlessEqual(node, w, 1, x, power);
}

/// sign(x) * value
Value withSign(OnnxNode &node, Value x, Value value) {
  return node.binary(BinaryKind::Mul, node.unary(UnaryKind::Sign, x), value);
}

/// (exp(x) + sign * exp(-x)) / 2 of x >= 0. With h = exp(x / 2) it overflows
/// only where the result does.
Value halfSum(OnnxNode &node, Value x, BinaryKind kind) {
  Value h = node.unary(UnaryKind::Exp, node.binary(BinaryKind::Mul, x, 0.5));
  Value up =
      node.binary(BinaryKind::Mul, node.binary(BinaryKind::Mul, h, 0.5), h);
  Value down =
      node.binary(BinaryKind::Div,
                  node.binary(BinaryKind::Div, node.splatLike(x, 0.5), h), h);
  return node.binary(kind, up, down);
}

/// Below 1, with m = exp(x) - 1: (m + m / (m + 1)) / 2.
Value hyperbolicSine(OnnxNode &node, Value x) {
  Value size = node.unary(UnaryKind::Abs, x);
  Value m = expMinusOne(node, size);
  Value rest =
      node.binary(BinaryKind::Div, m, node.binary(BinaryKind::Add, m, 1.0));
  Value small =
      node.binary(BinaryKind::Mul, node.binary(BinaryKind::Add, m, rest), 0.5);
  Value isSmall =
      node.compare(ComparePredicate::Lt, size, node.splatLike(size, 1));
  Value y = withSign(
      node, x,
      node.select(isSmall, small, halfSum(node, size, BinaryKind::Sub)));
  return node.function("sinh", {x}, y);
}

Value hyperbolicCosine(OnnxNode &node, Value x) {
  Value y = halfSum(node, node.unary(UnaryKind::Abs, x), BinaryKind::Add);
  return node.function("cosh", {x}, y);
}

/// log(2x), which is what the inverse hyperbolic functions are of a large x,
/// else `value`: their squares would overflow.
Value logOfLarge(OnnxNode &node, Value x, Value value) {
  double large = OnnxNode::elementOf(x).isF64() ? 1e8 : 1e4;
  Value log = node.binary(BinaryKind::Add, node.unary(UnaryKind::Log, x),
                          0.69314718055994530942);
  Value isLarge =
      node.compare(ComparePredicate::Gt, x, node.splatLike(x, large));
  return node.select(isLarge, log, value);
}

/// sign(x) * log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))
Value areaSine(OnnxNode &node, Value x) {
  Value size = node.unary(UnaryKind::Abs, x), square = squareOf(node, x);
  Value root =
      node.unary(UnaryKind::Sqrt, node.binary(BinaryKind::Add, square, 1.0));
  Value more = node.binary(BinaryKind::Div, square,
                           node.binary(BinaryKind::Add, root, 1.0));
  Value value = logOnePlus(node, node.binary(BinaryKind::Add, size, more));
  Value y = withSign(node, x, logOfLarge(node, size, value));
  return node.function("asinh", {x}, y);
}

/// log(1 + (x - 1) + sqrt(x - 1) * sqrt(x + 1))
Value areaCosine(OnnxNode &node, Value x) {
  Value less = node.binary(BinaryKind::Sub, x, 1.0);
  Value more = node.binary(BinaryKind::Add, x, 1.0);
  Value root = node.binary(BinaryKind::Mul, node.unary(UnaryKind::Sqrt, less),
                           node.unary(UnaryKind::Sqrt, more));
  Value value = logOnePlus(node, node.binary(BinaryKind::Add, less, root));
  return node.function("acosh", {x}, logOfLarge(node, x, value));
}

/// sign(x) * log(1 + 2|x| / (1 - |x|)) / 2
Value areaTangent(OnnxNode &node, Value x) {
  Value size = node.unary(UnaryKind::Abs, x);
  Value rest = node.binary(BinaryKind::Sub, node.splatLike(x, 1), size);
  Value ratio = node.binary(BinaryKind::Div,
                            node.binary(BinaryKind::Mul, size, 2.0), rest);
  Value y = withSign(
      node, x, node.binary(BinaryKind::Mul, logOnePlus(node, ratio), 0.5));
  return node.function("atanh", {x}, y);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

LogicalResult requireIntegers(OnnxNode &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    Type element = OnnxNode::elementOf(node.input(i));
    if (!isa<IntegerType>(element) || element.isInteger(1))
      return wrongElement(node, i, "must be of an integer type");
  }
  return success();
}

/// Both inputs, broadcast.
LogicalResult bits(OnnxNode &node, BinaryKind kind) {
  if (failed(requireIntegers(node)))
    return failure();
  if (OnnxNode::elementOf(node.input(0)) != OnnxNode::elementOf(node.input(1)))
    return differentElements(node, 0, 1);
  FailureOr<SmallVector<int64_t>> shape =
      node.broadcastShape({node.input(0), node.input(1)});
  if (failed(shape))
    return failure();
  return node.finish(node.binary(kind, node.broadcastTo(node.input(0), *shape),
                                 node.broadcastTo(node.input(1), *shape)));
}

template <BinaryKind kind> LogicalResult bitwise(OnnxNode &node) {
  return bits(node, kind);
}

LogicalResult bitwiseNot(OnnxNode &node) {
  if (failed(requireIntegers(node)))
    return failure();
  return node.finish(node.unary(UnaryKind::Not, node.input(0)));
}

LogicalResult bitShift(OnnxNode &node) {
  StringRef direction = node.getString("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error("unknown value '" + direction +
                      "' of direction (known: LEFT, RIGHT)");
  return bits(node, direction == "LEFT" ? BinaryKind::Shl : BinaryKind::Shr);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// x + bias below -lambda, x - bias above it, else 0. Of integers in f64, for
/// both numbers are fractions.
LogicalResult shrink(OnnxNode &node) {
  Value x = node.input(0);
  Type element = OnnxNode::elementOf(x);
  if (!isa<FloatType>(element))
    x = node.convert(x, node.builder.getF64Type());
  double lambda = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0);
  Value below =
      node.compare(ComparePredicate::Lt, x, node.splatLike(x, -lambda));
  Value above =
      node.compare(ComparePredicate::Gt, x, node.splatLike(x, lambda));
  Value inside = node.select(above, node.binary(BinaryKind::Sub, x, bias),
                             node.splatLike(x, 0));
  Value result =
      node.select(below, node.binary(BinaryKind::Add, x, bias), inside);
  return node.finish(node.convert(result, element));
}

/// The determinant of these `rows`, and the columns from `column` on, of the
/// matrix in the last two dimensions.
Value determinantOf(OnnxNode &node, Value x, ArrayRef<int64_t> rows,
                    int64_t column) {
  int64_t rank = OnnxNode::rankOf(x);
  auto element = [&](int64_t row) {
    return node.take(node.take(x, rank - 1, column), rank - 2, row);
  };
  if (rows.size() == 1)
    return element(rows[0]);
  Value sum;
  for (size_t i = 0; i < rows.size(); ++i) {
    SmallVector<int64_t> others(rows);
    others.erase(others.begin() + i);
    Value term = node.binary(BinaryKind::Mul, element(rows[i]),
                             determinantOf(node, x, others, column + 1));
    sum = !sum ? term
               : node.binary(i % 2 ? BinaryKind::Sub : BinaryKind::Add, sum,
                             term);
  }
  return sum;
}

/// Computes a determinant by its definition, which would be too much work for
/// larger matrices.
LogicalResult determinant(OnnxNode &node) {
  constexpr int64_t kMostRows = 4;
  if (failed(node.requireFloat(0)))
    return failure();
  int64_t rank = node.rank(0);
  if (rank < 2 || node.shape(0)[rank - 1] != node.shape(0)[rank - 2])
    return node.error("its input is " + OnnxNode::typeText(node.input(0)) +
                      "; it must hold square matrices");
  int64_t rows = node.shape(0).back();
  if (rows < 1 || rows > kMostRows)
    return node.error("its matrices have " + Twine(rows) +
                      " rows; it takes 1 to " + Twine(kMostRows));
  return node.finish(determinantOf(
      node, node.input(0), llvm::to_vector(llvm::seq<int64_t>(0, rows)), 0));
}

/// Sample b has its first lengths[b] elements in reverse order.
LogicalResult reverseSequence(OnnxNode &node) {
  int64_t batch = node.getInt("batch_axis", 1),
          time = node.getInt("time_axis", 0);
  if (node.rank(0) < 2 || batch + time != 1 || batch * time != 0)
    return node.error("batch_axis and time_axis must be 0 and 1");
  ArrayRef<int64_t> shape = node.shape(0);
  if (node.shape(1) != shape.slice(batch, 1) ||
      !isa<IntegerType>(OnnxNode::elementOf(node.input(1))))
    return node.error("it needs one length per sample");
  Type i64 = node.builder.getI64Type();
  Value at = node.iota(RankedTensorType::get(shape, i64), time);
  Value lengths =
      node.broadcastDims(node.convert(node.input(1), i64), shape, {batch});
  Value mirrored = node.binary(BinaryKind::Sub,
                               node.binary(BinaryKind::Sub, lengths, 1.0), at);
  Value inside = node.compare(ComparePredicate::Lt, at, lengths);
  return node.finish(node.gatherElements(
      node.input(0), node.select(inside, mirrored, at), time));
}

/// Cuts or pads each axis evenly at both ends to the shape of input 1.
LogicalResult centerCropPad(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> sizes = node.ints(1);
  if (failed(sizes))
    return failure();
  SmallVector<int64_t> axes = node.getInts("axes");
  if (!node.hasAttribute("axes"))
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  if (failed(node.normalizeAxes(axes, node.rank(0))))
    return failure();
  if (axes.size() != sizes->size())
    return node.error("it has " + Twine(sizes->size()) + " sizes for " +
                      Twine(axes.size()) + " axes");
  SmallVector<int64_t> cut(node.shape(0)), starts(cut.size(), 0),
      low(cut.size(), 0), high(cut.size(), 0);
  SmallVector<int64_t> whole(cut);
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    int64_t d = axis < 0 ? axis + node.rank(0) : axis, more = size - cut[d];
    if (size < 0 || size > int64_t(1) << 40)
      return node.error("its size " + Twine(size) + " is out of range");
    whole[d] = size;
    if (more < 0) {
      starts[d] = -more / 2;
      cut[d] = size;
    } else {
      low[d] = more / 2;
      high[d] = more - low[d];
    }
  }
  Value x = node.slice(node.input(0), starts, cut);
  if (cut == whole)
    return node.finish(x);
  return node.finish(node.create<PadOp>(node.type(0).clone(whole), x, low, high,
                                        llvm::APFloat(0.0)));
}

const OnnxOp kOps[] = {
    {"Tan", "7 22", 1, 1, "", floatFunction<tangent>},
    {"Atan", "7 22", 1, 1, "", floatFunction<arcTangent>},
    {"Asin", "7 22", 1, 1, "", floatFunction<arcSine>},
    {"Acos", "7 22", 1, 1, "", floatFunction<arcCosine>},
    {"Sinh", "9 22", 1, 1, "", floatFunction<hyperbolicSine>},
    {"Cosh", "9 22", 1, 1, "", floatFunction<hyperbolicCosine>},
    {"Asinh", "9 22", 1, 1, "", floatFunction<areaSine>},
    {"Acosh", "9 22", 1, 1, "", floatFunction<areaCosine>},
    {"Atanh", "9 22", 1, 1, "", floatFunction<areaTangent>},
    {"Det", "11 22", 1, 1, "", widen<determinant>},
    {"BitwiseAnd", "18", 2, 2, "", bitwise<BinaryKind::And>},
    {"BitwiseOr", "18", 2, 2, "", bitwise<BinaryKind::Or>},
    {"BitwiseXor", "18", 2, 2, "", bitwise<BinaryKind::Xor>},
    {"BitwiseNot", "18", 1, 1, "", bitwiseNot},
    {"BitShift", "11 28", 2, 2, "direction:string!", bitShift},
    {"Shrink", "9", 1, 1, "bias:float lambd:float", widen<shrink>},
    {"ReverseSequence", "10 28", 2, 2, "batch_axis:int time_axis:int",
     reverseSequence},
    {"CenterCropPad", "18", 2, 2, "axes:ints", centerCropPad},
};
} // namespace

ArrayRef<OnnxOp> mathOps() { return kOps; }

} // namespace autopar
