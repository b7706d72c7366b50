//===- OnnxOpsActivation.cpp - ONNX activation functions ------------------===//

#include "ActivationFunctions.h"
#include "ElementTypes.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

template <UnaryKind kind> LogicalResult activation(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(node.unary(kind, node.input(0)));
}

LogicalResult relu(OnnxNode &node) {
  Value x = node.input(0);
  if (isa<FloatType>(OnnxNode::elementOf(x)))
    return activation<UnaryKind::Relu>(node);
  return node.finish(node.binary(BinaryKind::Max, x, 0.0));
}

LogicalResult gelu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  StringRef form = node.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.error("unknown value '" + form +
                      "' of approximate (known: none, tanh)");
  return node.finish(
      node.unary(form == "tanh" ? UnaryKind::GeluTanh : UnaryKind::GeluErf,
                 node.input(0)));
}

/// x where x > 0, else `negative`.
Value wherePositive(OnnxNode &node, Value x, Value negative) {
  Value positive = node.compare(ComparePredicate::Gt, x, node.splatLike(x, 0));
  return node.select(positive, x, negative);
}

/// exp(x) - 1
Value expMinusOne(OnnxNode &node, Value x) {
  return node.binary(BinaryKind::Sub, node.unary(UnaryKind::Exp, x), 1.0);
}

LogicalResult leakyRelu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(
      leakyReluOf(node, node.input(0), node.getFloat("alpha", 0.01f)));
}

LogicalResult prelu(OnnxNode &node) {
  Value x = node.input(0), slope = node.input(1);
  if (OnnxNode::elementOf(x) != OnnxNode::elementOf(slope))
    return differentElements(node, 0, 1);
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(x);
  // Before version 7 a slope of rank 1 has one value per channel; some exports
  // of version 7 mean that too, where it does not broadcast otherwise.
  bool isChannels = node.version < 9 && node.rank(1) == 1 && node.rank(0) > 1 &&
                    node.shape(1)[0] == shape[1];
  if (isChannels && (node.version < 7 || shape[1] != shape.back())) {
    slope = node.broadcastDims(slope, shape, {1});
  } else {
    FailureOr<SmallVector<int64_t>> joint = node.broadcastShape({x, slope});
    if (failed(joint))
      return failure();
    if (ArrayRef<int64_t>(*joint) != shape)
      return node.error("the slope's shape does not broadcast to the input's");
    slope = node.broadcastTo(slope, shape);
  }
  // An infinite slope leaves zeros as they are.
  Value negative = node.compare(ComparePredicate::Lt, x, node.splatLike(x, 0));
  Value y = node.select(negative, node.binary(BinaryKind::Mul, x, slope), x);
  return node.finish(node.function("prelu", {x, slope}, y));
}

LogicalResult elu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(eluOf(node, node.input(0), node.getFloat("alpha", 1.0)));
}

LogicalResult selu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  double alpha = node.getFloat("alpha", 1.67326319217681884765625);
  double gamma = node.getFloat("gamma", 1.05070102214813232421875);
  Value negative = node.binary(BinaryKind::Mul, expMinusOne(node, x), alpha);
  Value y =
      node.binary(BinaryKind::Mul, wherePositive(node, x, negative), gamma);
  return node.finish(node.function(
      "elu", {x}, y,
      {node.number("alpha", alpha), node.number("scale", gamma)}));
}

LogicalResult celu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  double alpha = node.getFloat("alpha", 1.0);
  if (alpha == 0)
    return node.error("alpha must not be 0");
  Value scaled = node.binary(BinaryKind::Mul, x, 1 / alpha);
  Value y = wherePositive(
      node, x, node.binary(BinaryKind::Mul, expMinusOne(node, scaled), alpha));
  return node.finish(node.function(
      "elu", {x}, y,
      {node.number("alpha", alpha), node.number("rate", 1 / alpha)}));
}

LogicalResult thresholdedRelu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(
      thresholdedReluOf(node, node.input(0), node.getFloat("alpha", 1.0)));
}

LogicalResult softplus(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(softplusOf(node, node.input(0)));
}

LogicalResult softsign(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(softsignOf(node, node.input(0)));
}

LogicalResult mish(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  return node.finish(node.binary(
      BinaryKind::Mul, x, node.unary(UnaryKind::Tanh, softplusOf(node, x))));
}

/// x * sigmoid(alpha * x) of input 0.
Value swishOfInput(OnnxNode &node) {
  Value x = node.input(0);
  double alpha = node.getFloat("alpha", 1.0);
  Value scaled = alpha == 1 ? x : node.binary(BinaryKind::Mul, x, alpha);
  return node.binary(BinaryKind::Mul, x,
                     node.unary(UnaryKind::Sigmoid, scaled));
}

LogicalResult swish(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(swishOfInput(node));
}

LogicalResult swiGlu(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  if (node.type(0) != node.type(1))
    return node.error("its inputs are " + OnnxNode::typeText(node.input(0)) +
                      " and " + OnnxNode::typeText(node.input(1)) +
                      "; they must be of one type");
  return node.finish(
      node.binary(BinaryKind::Mul, swishOfInput(node), node.input(1)));
}

LogicalResult hardSigmoid(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return node.finish(hardSigmoidOf(node, node.input(0),
                                   node.getFloat("alpha", 0.2f),
                                   node.getFloat("beta", 0.5)));
}

LogicalResult hardSwish(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  Value y =
      node.binary(BinaryKind::Mul, x, hardSigmoidOf(node, x, 1.0 / 6, 0.5));
  return node.finish(node.function("hard_swish", {x}, y));
}

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

/// x clipped by a bound that is left out: the least or the largest finite
/// number, so that an infinite x is clipped. Integers stay as they are.
Value clipByDefault(OnnxNode &node, Value x, BinaryKind kind) {
  auto type = dyn_cast<FloatType>(OnnxNode::elementOf(x));
  if (!type)
    return x;
  APFloat bound =
      APFloat::getLargest(type.getFloatSemantics(), kind == BinaryKind::Max);
  return node.binary(kind, x, bound.convertToDouble());
}

/// The number that all elements of a constant are.
std::optional<double> boundOf(Value bound) {
  auto constant = bound.getDefiningOp<ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>().convertToDouble();
}

/// `y`, which is input 0 between the other `inputs`, as one function. From 0 to
/// 6 it is relu6: both exporters of PyTorch write that so.
Value asClip(OnnxNode &node, Value y, ArrayRef<Value> inputs) {
  if (inputs.size() == 3 && boundOf(inputs[1]) == 0.0 &&
      boundOf(inputs[2]) == 6.0)
    return node.function("between", inputs[0], y,
                         {node.number("low", 0), node.number("high", 6)});
  // The derivatives of max and min with a number are right.
  if (llvm::all_of(llvm::drop_begin(inputs), boundOf))
    return y;
  return node.function(
      "clip", inputs, y,
      {node.number("lower", node.has(1)), node.number("upper", node.has(2))});
}

LogicalResult clipByAttributes(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<Value> inputs{x};
  for (auto [name, kind] :
       {std::pair("min", BinaryKind::Max), std::pair("max", BinaryKind::Min)})
    if (node.hasAttribute(name)) {
      inputs.push_back(node.splatLike(x, node.getFloat(name, 0)));
      x = node.binary(kind, x, inputs.back());
    } else {
      x = clipByDefault(node, x, kind);
    }
  return node.finish(asClip(node, x, inputs));
}

LogicalResult clip(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<Value> inputs{x};
  for (unsigned i = 1; i < 3; ++i) {
    BinaryKind kind = i == 1 ? BinaryKind::Max : BinaryKind::Min;
    if (!node.has(i)) {
      x = clipByDefault(node, x, kind);
      continue;
    }
    Value bound = node.input(i);
    if (OnnxNode::typeOf(bound).getNumElements() != 1)
      return node.error("its input " + Twine(i) + " must be a scalar");
    if (OnnxNode::elementOf(bound) != OnnxNode::elementOf(x))
      return differentElements(node, 0, i);
    bound = node.broadcastTo(node.reshape(bound, {}), OnnxNode::shapeOf(x));
    inputs.push_back(bound);
    x = node.binary(kind, x, bound);
  }
  return node.finish(asClip(node, x, inputs));
}

const OnnxOp kOps[] = {
    {"Relu", "6 13 14", 1, 1, "", relu},
    {"Sigmoid", "6 13", 1, 1, "", activation<UnaryKind::Sigmoid>},
    {"Tanh", "6 13", 1, 1, "", activation<UnaryKind::Tanh>},
    {"Gelu", "20", 1, 1, "approximate:string", gelu},
    {"LeakyRelu", "6 16", 1, 1, "alpha:float", widen<leakyRelu>},
    {"PRelu", "6 7 9 16", 2, 2, "", prelu},
    {"Elu", "6 22", 1, 1, "alpha:float", widen<elu>},
    {"Selu", "6 22", 1, 1, "alpha:float gamma:float", widen<selu>},
    {"Celu", "12 28", 1, 1, "alpha:float", widen<celu>},
    {"ThresholdedRelu", "10 22", 1, 1, "alpha:float", widen<thresholdedRelu>},
    {"Softplus", "1 22", 1, 1, "", widen<softplus>},
    {"Softsign", "1 22", 1, 1, "", widen<softsign>},
    {"Mish", "18 22", 1, 1, "", widen<mish>},
    {"Swish", "24", 1, 1, "alpha:float", widen<swish>},
    {"SwiGLU", "28", 2, 2, "alpha:float", widen<swiGlu>},
    {"HardSigmoid", "6 22", 1, 1, "alpha:float beta:float", widen<hardSigmoid>},
    {"HardSwish", "14 22", 1, 1, "", widen<hardSwish>},
    {"Clip", "6", 1, 1, "max:float min:float", clipByAttributes},
    {"Clip", "11 12 13", 1, 3, "", clip},
};
} // namespace

Value leakyReluOf(OnnxNode &node, Value x, double alpha) {
  return wherePositive(node, x, node.binary(BinaryKind::Mul, x, alpha));
}

Value eluOf(OnnxNode &node, Value x, double alpha) {
  Value y = wherePositive(
      node, x, node.binary(BinaryKind::Mul, expMinusOne(node, x), alpha));
  return node.function("elu", {x}, y, {node.number("alpha", alpha)});
}

Value thresholdedReluOf(OnnxNode &node, Value x, double alpha) {
  Value above = node.compare(ComparePredicate::Gt, x, node.splatLike(x, alpha));
  return node.select(above, x, node.splatLike(x, 0));
}

/// max(x, 0) + log(1 + exp(-|x|)) does not overflow.
Value softplusOf(OnnxNode &node, Value x) {
  Value decay =
      node.unary(UnaryKind::Exp,
                 node.unary(UnaryKind::Neg, node.unary(UnaryKind::Abs, x)));
  Value rest =
      node.unary(UnaryKind::Log, node.binary(BinaryKind::Add, decay, 1.0));
  Value y = node.binary(BinaryKind::Add, node.unary(UnaryKind::Relu, x), rest);
  return node.function("softplus", {x}, y);
}

Value softsignOf(OnnxNode &node, Value x) {
  Value scale =
      node.binary(BinaryKind::Add, node.unary(UnaryKind::Abs, x), 1.0);
  return node.binary(BinaryKind::Div, x, scale);
}

Value hardSigmoidOf(OnnxNode &node, Value x, double alpha, double beta) {
  Value line = node.binary(BinaryKind::Add,
                           node.binary(BinaryKind::Mul, x, alpha), beta);
  Value y = node.binary(BinaryKind::Max,
                        node.binary(BinaryKind::Min, line, 1.0), 0.0);
  return node.function(
      "hard_sigmoid", {x}, y,
      {node.number("alpha", alpha), node.number("beta", beta)});
}

ArrayRef<OnnxOp> activationOps() { return kOps; }

} // namespace autopar
