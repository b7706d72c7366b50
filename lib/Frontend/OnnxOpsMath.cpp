//===- OnnxOpsMath.cpp - ONNX functions made of simpler ones --------------===//

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
  return node.finish(function(node, node.input(0)));
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
  return arcTangent(
      node, node.binary(BinaryKind::Div, x, node.unary(UnaryKind::Sqrt, rest)));
}

Value arcCosine(OnnxNode &node, Value x) {
  Value quarter = node.splatLike(x, 1.57079632679489661923);
  return node.binary(BinaryKind::Sub, quarter, arcSine(node, x));
}

/// (exp(x) + sign * exp(-x)) / 2
Value halfSum(OnnxNode &node, Value x, BinaryKind kind) {
  Value down = node.unary(UnaryKind::Exp, node.unary(UnaryKind::Neg, x));
  return node.binary(BinaryKind::Mul,
                     node.binary(kind, node.unary(UnaryKind::Exp, x), down),
                     0.5);
}
Value hyperbolicSine(OnnxNode &node, Value x) {
  return halfSum(node, x, BinaryKind::Sub);
}
Value hyperbolicCosine(OnnxNode &node, Value x) {
  return halfSum(node, x, BinaryKind::Add);
}

/// sign(x) * log(|x| + sqrt(x^2 + 1))
Value areaSine(OnnxNode &node, Value x) {
  Value size = node.unary(UnaryKind::Abs, x);
  Value root = node.unary(UnaryKind::Sqrt,
                          node.binary(BinaryKind::Add, squareOf(node, x), 1.0));
  Value value =
      node.unary(UnaryKind::Log, node.binary(BinaryKind::Add, size, root));
  return node.binary(BinaryKind::Mul, node.unary(UnaryKind::Sign, x), value);
}

/// log(x + sqrt(x^2 - 1))
Value areaCosine(OnnxNode &node, Value x) {
  Value root = node.unary(UnaryKind::Sqrt,
                          node.binary(BinaryKind::Sub, squareOf(node, x), 1.0));
  return node.unary(UnaryKind::Log, node.binary(BinaryKind::Add, x, root));
}

/// log((1 + x) / (1 - x)) / 2
Value areaTangent(OnnxNode &node, Value x) {
  Value one = node.splatLike(x, 1);
  Value ratio =
      node.binary(BinaryKind::Div, node.binary(BinaryKind::Add, one, x),
                  node.binary(BinaryKind::Sub, one, x));
  return node.binary(BinaryKind::Mul, node.unary(UnaryKind::Log, ratio), 0.5);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

LogicalResult requireIntegers(OnnxNode &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    Type element = OnnxNode::elementOf(node.input(i));
    if (!isa<IntegerType>(element) || element.isInteger(1))
      return node.error("its input " + Twine(i) +
                        " must be of an integer type");
  }
  return success();
}

/// Both inputs, broadcast.
LogicalResult bits(OnnxNode &node, BinaryKind kind) {
  if (failed(requireIntegers(node)))
    return failure();
  if (OnnxNode::elementOf(node.input(0)) != OnnxNode::elementOf(node.input(1)))
    return node.error("its inputs 0 and 1 have different element types");
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

/// x + bias below -lambda, x - bias above it, else 0.
LogicalResult shrink(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  double lambda = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0);
  Value below =
      node.compare(ComparePredicate::Lt, x, node.splatLike(x, -lambda));
  Value above =
      node.compare(ComparePredicate::Gt, x, node.splatLike(x, lambda));
  Value inside = node.select(above, node.binary(BinaryKind::Sub, x, bias),
                             node.splatLike(x, 0));
  return node.finish(
      node.select(below, node.binary(BinaryKind::Add, x, bias), inside));
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
    {"BitwiseAnd", "18", 2, 2, "", bitwise<BinaryKind::And>},
    {"BitwiseOr", "18", 2, 2, "", bitwise<BinaryKind::Or>},
    {"BitwiseXor", "18", 2, 2, "", bitwise<BinaryKind::Xor>},
    {"BitwiseNot", "18", 1, 1, "", bitwiseNot},
    {"BitShift", "11 28", 2, 2, "direction:string!", bitShift},
    {"Shrink", "9", 1, 1, "bias:float lambd:float", shrink},
    {"ReverseSequence", "10 28", 2, 2, "batch_axis:int time_axis:int",
     reverseSequence},
    {"CenterCropPad", "18", 2, 2, "axes:ints", centerCropPad},
};
} // namespace

ArrayRef<OnnxOp> mathOps() { return kOps; }

} // namespace autopar
