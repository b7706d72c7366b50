//===- OnnxOpsElementwise.cpp - ONNX operators on single elements ---------===//

#include "ElementTypes.h"
#include "Norms.h"
#include "OnnxNode.h"
#include "autopar/Dialect/Bytes.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <UnaryKind kind> LogicalResult unary(OnnxNode &node) {
  return node.finish(node.unary(kind, node.input(0)));
}

LogicalResult squareRoot(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  return node.finish(
      rootOfPowers(node, node.unary(UnaryKind::Sqrt, x), x, 0.5));
}

/// Functions that are the identity on integers.
template <UnaryKind kind> LogicalResult unaryOfFloat(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  return unary<kind>(node);
}

/// Computes erf, also for integers, whose results are the whole parts -1, 0 or
/// 1.
LogicalResult errorFunction(OnnxNode &node) {
  Type element = OnnxNode::elementOf(node.input(0));
  if (isa<FloatType>(element))
    return unary<UnaryKind::Erf>(node);
  Value x = node.convert(node.input(0), node.builder.getF64Type());
  return node.finish(node.convert(node.unary(UnaryKind::Erf, x), element));
}

LogicalResult logicalNot(OnnxNode &node) {
  if (!OnnxNode::elementOf(node.input(0)).isInteger(1))
    return wrongElement(node, 0, "must be of type BOOL");
  return unary<UnaryKind::Not>(node);
}

LogicalResult isInf(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  Value x = node.input(0);
  bool negative = node.getInt("detect_negative", 1);
  bool positive = node.getInt("detect_positive", 1);
  Value result = node.unary(UnaryKind::IsInf, x);
  if (negative && positive)
    return node.finish(result);
  if (!negative && !positive)
    return node.finish(node.splatLike(result, 0));
  Value side =
      node.compare(positive ? ComparePredicate::Gt : ComparePredicate::Lt, x,
                   node.splatLike(x, 0));
  return node.finish(node.binary(BinaryKind::And, result, side));
}

LogicalResult identity(OnnxNode &node) { return node.finish(node.input(0)); }

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult cast(OnnxNode &node) {
  FailureOr<Type> type = node.elementType(node.getInt("to", 0));
  if (failed(type))
    return failure();
  return node.finish(node.convert(node.input(0), *type));
}

LogicalResult castLike(OnnxNode &node) {
  return node.finish(
      node.convert(node.input(0), OnnxNode::elementOf(node.input(1))));
}

/// The bits of the elements as another type of their width, which is 8 of BOOL.
LogicalResult bitCast(OnnxNode &node) {
  FailureOr<Type> to = node.elementType(node.getInt("to", 0));
  if (failed(to))
    return failure();
  Type from = OnnxNode::elementOf(node.input(0));
  if (elementBytes(from) != elementBytes(*to))
    return node.error("the types of its input and result have different "
                      "widths, " +
                      Twine(8 * elementBytes(from)) + " and " +
                      Twine(8 * elementBytes(*to)) + " bits");
  if (from == *to || (isa<IntegerType>(from) && isa<IntegerType>(*to)))
    return node.finish(node.convert(node.input(0), *to)); // BOOL is 0 or 1
  if (std::optional<Value> bits = node.bitsOf(0, *to))
    return node.finish(*bits);
  return node.error("between floats and integers its input must be known while "
                    "compiling" +
                    node.howToBind(0));
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

/// Inputs first to last, broadcast to one shape; their element types must
/// agree.
FailureOr<SmallVector<Value>> broadcastInputs(OnnxNode &node, unsigned first,
                                              unsigned last) {
  SmallVector<Value> values;
  for (unsigned i = first; i < last; ++i) {
    if (!node.has(i))
      return node.error("its input " + Twine(i) + " is missing");
    values.push_back(node.input(i));
    if (OnnxNode::elementOf(values.back()) != OnnxNode::elementOf(values[0]))
      return differentElements(node, first, i);
  }
  FailureOr<SmallVector<int64_t>> shape = node.broadcastShape(values);
  if (failed(shape))
    return failure();
  for (Value &value : values)
    value = node.broadcastTo(value, *shape);
  return values;
}

/// Before opset 7 the second operand is broadcast only if the attribute says
/// so, with its dimensions from `axis` on.
FailureOr<SmallVector<Value>> broadcastOld(OnnxNode &node) {
  Value a = node.input(0), b = node.input(1);
  if (OnnxNode::elementOf(a) != OnnxNode::elementOf(b))
    return differentElements(node, 0, 1);
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(a), part = OnnxNode::shapeOf(b);
  if (shape == part)
    return SmallVector<Value>{a, b};
  int64_t rest = int64_t(shape.size()) - int64_t(part.size());
  if (!node.getInt("broadcast", 0) || rest < 0)
    return node.error("shapes differ and broadcast is not set");
  int64_t axis = node.getInt("axis", rest);
  if (axis < 0 || axis > rest)
    return node.error("axis " + Twine(axis) + " does not fit the shapes");
  for (auto [i, size] : llvm::enumerate(part))
    if (size != 1 && size != shape[axis + i])
      return node.error("shapes do not fit together from axis " + Twine(axis));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(axis, axis + part.size()));
  return SmallVector<Value>{a, node.broadcastDims(b, shape, dims)};
}

FailureOr<SmallVector<Value>> operands(OnnxNode &node) {
  return node.version < 7 ? broadcastOld(node) : broadcastInputs(node, 0, 2);
}

template <BinaryKind kind> LogicalResult binary(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values = operands(node);
  if (failed(values))
    return failure();
  return node.finish(node.binary(kind, (*values)[0], (*values)[1]));
}

template <BinaryKind kind> LogicalResult logical(OnnxNode &node) {
  for (unsigned i = 0; i < 2; ++i)
    if (!OnnxNode::elementOf(node.input(i)).isInteger(1))
      return wrongElement(node, i, "must be of type BOOL");
  return binary<kind>(node);
}

template <ComparePredicate predicate> LogicalResult comparison(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values = operands(node);
  if (failed(values))
    return failure();
  return node.finish(node.compare(predicate, (*values)[0], (*values)[1]));
}

template <BinaryKind kind> LogicalResult variadic(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values =
      broadcastInputs(node, 0, node.numInputs());
  if (failed(values))
    return failure();
  Value result = values->front();
  for (Value value : llvm::drop_begin(*values))
    result = node.binary(kind, result, value);
  return node.finish(result);
}

LogicalResult meanOfInputs(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values =
      broadcastInputs(node, 0, node.numInputs());
  if (failed(values) || failed(node.requireFloat(0)))
    return failure();
  Value result = values->front();
  for (Value value : llvm::drop_begin(*values))
    result = node.binary(BinaryKind::Add, result, value);
  return node.finish(
      node.binary(BinaryKind::Mul, result, 1.0 / node.numInputs()));
}

LogicalResult mod(OnnxNode &node) {
  bool fmod = node.getInt("fmod", 0);
  if (!fmod && isa<FloatType>(OnnxNode::elementOf(node.input(0))) &&
      node.version < 28)
    return node.error("floating-point operands need fmod = 1");
  return fmod ? binary<BinaryKind::FMod>(node) : binary<BinaryKind::Mod>(node);
}

/// Powers that cost no logarithm; null if `exponent` is none of them.
Value cheapPower(OnnxNode &node, Value x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return node.binary(BinaryKind::Mul, x, x);
  if (exponent == 3) {
    Value wide = node.widened(x);
    Value square = node.binary(BinaryKind::Mul, wide, wide);
    return node.convert(node.binary(BinaryKind::Mul, square, wide),
                        OnnxNode::elementOf(x));
  }
  if (!isa<FloatType>(OnnxNode::elementOf(x)))
    return {};
  if (exponent == 0.5)
    return rootOfPowers(node, node.unary(UnaryKind::Sqrt, x), x, 0.5);
  if (exponent == -0.5)
    return node.unary(UnaryKind::Rsqrt, x);
  if (exponent == -1)
    return node.unary(UnaryKind::Reciprocal, x);
  return {};
}

/// The type in which a power is computed: the base's type if it holds every
/// exponent. A power of an integer by a fraction is the real power, cut to an
/// integer. With an integer exponent of another type 64 bits give the same low
/// bits and keep the exponent's sign.
Type powerType(OnnxNode &node, Type base, Type exponent) {
  if (base == exponent)
    return base;
  if (isa<FloatType>(base))
    return node.widened(base);
  if (isa<FloatType>(exponent))
    return Float64Type::get(base.getContext());
  return IntegerType::get(base.getContext(), 64);
}

LogicalResult power(OnnxNode &node) {
  Value x = node.input(0);
  FailureOr<SmallVector<int64_t>> shape =
      node.broadcastShape({x, node.input(1)});
  if (failed(shape))
    return failure();
  std::optional<SmallVector<double>> exponent = node.knownNumbers(1);
  if (exponent && exponent->size() == 1)
    if (Value result =
            cheapPower(node, node.broadcastTo(x, *shape), exponent->front()))
      return node.finish(result);
  Type element = OnnxNode::elementOf(x);
  Type computed = powerType(node, element, OnnxNode::elementOf(node.input(1)));
  x = node.broadcastTo(node.convert(x, computed), *shape);
  Value y = node.broadcastTo(node.convert(node.input(1), computed), *shape);
  Value result = node.convert(node.binary(BinaryKind::Pow, x, y), element);
  if (exponent && exponent->size() == 1)
    result = rootOfPowers(node, result, x, exponent->front());
  return node.finish(result);
}

LogicalResult oldPower(OnnxNode &node) { return binary<BinaryKind::Pow>(node); }

LogicalResult where(OnnxNode &node) {
  Value condition = node.input(0);
  if (!OnnxNode::elementOf(condition).isInteger(1))
    return wrongElement(node, 0, "must be of type BOOL");
  if (OnnxNode::elementOf(node.input(1)) != OnnxNode::elementOf(node.input(2)))
    return differentElements(node, 1, 2);
  FailureOr<SmallVector<int64_t>> shape =
      node.broadcastShape({condition, node.input(1), node.input(2)});
  if (failed(shape))
    return failure();
  return node.finish(node.select(node.broadcastTo(condition, *shape),
                                 node.broadcastTo(node.input(1), *shape),
                                 node.broadcastTo(node.input(2), *shape)));
}

constexpr StringLiteral kOldBroadcast = "axis:int broadcast:int";

const OnnxOp kOps[] = {
    {"Abs", "6 13", 1, 1, "", unary<UnaryKind::Abs>},
    {"Ceil", "6 13", 1, 1, "", unaryOfFloat<UnaryKind::Ceil>},
    {"Cos", "7 22", 1, 1, "", unaryOfFloat<UnaryKind::Cos>},
    {"Erf", "9 13", 1, 1, "", errorFunction},
    {"Exp", "6 13", 1, 1, "", unaryOfFloat<UnaryKind::Exp>},
    {"Floor", "6 13", 1, 1, "", unaryOfFloat<UnaryKind::Floor>},
    {"IsNaN", "9 13 20", 1, 1, "", unaryOfFloat<UnaryKind::IsNan>},
    {"IsInf", "10 20", 1, 1, "detect_negative:int detect_positive:int", isInf},
    {"Log", "6 13", 1, 1, "", unaryOfFloat<UnaryKind::Log>},
    {"Neg", "6 13", 1, 1, "", unary<UnaryKind::Neg>},
    {"Not", "1", 1, 1, "", logicalNot},
    {"Reciprocal", "6 13", 1, 1, "", unaryOfFloat<UnaryKind::Reciprocal>},
    {"Round", "11 22", 1, 1, "", unaryOfFloat<UnaryKind::Round>},
    {"Sign", "9 13", 1, 1, "", unary<UnaryKind::Sign>},
    {"Sin", "7 22", 1, 1, "", unaryOfFloat<UnaryKind::Sin>},
    {"Sqrt", "6 13", 1, 1, "", squareRoot},
    {"Identity", "1 13 14 16 19 21 23 24 25", 1, 1, "", identity, 0, true},
    {"BitCast", "26", 1, 1, "to:int!", bitCast},
    {"Cast", "6 9 13", 1, 1, "to:int!", cast},
    {"Cast", "19 21 23", 1, 1, "saturate:int to:int!", cast},
    {"Cast", "24 25 28", 1, 1, "round_mode:string saturate:int to:int!", cast},
    {"CastLike", "15", 2, 2, "", castLike},
    {"CastLike", "19 21 23", 2, 2, "saturate:int", castLike},
    {"CastLike", "24 25", 2, 2, "round_mode:string saturate:int", castLike},
    {"Add", "6", 2, 2, kOldBroadcast, binary<BinaryKind::Add>},
    {"Add", "7 13 14", 2, 2, "", binary<BinaryKind::Add>},
    {"Sub", "6", 2, 2, kOldBroadcast, binary<BinaryKind::Sub>},
    {"Sub", "7 13 14", 2, 2, "", binary<BinaryKind::Sub>},
    {"Mul", "6", 2, 2, kOldBroadcast, binary<BinaryKind::Mul>},
    {"Mul", "7 13 14", 2, 2, "", binary<BinaryKind::Mul>},
    {"Div", "6", 2, 2, kOldBroadcast, binary<BinaryKind::Div>},
    {"Div", "7 13 14", 2, 2, "", binary<BinaryKind::Div>},
    {"Pow", "1", 2, 2, kOldBroadcast, oldPower},
    {"Pow", "7 12 13 15", 2, 2, "", power},
    {"Mod", "10 13 28", 2, 2, "fmod:int", mod},
    {"And", "1", 2, 2, kOldBroadcast, logical<BinaryKind::And>},
    {"And", "7", 2, 2, "", logical<BinaryKind::And>},
    {"Or", "1", 2, 2, kOldBroadcast, logical<BinaryKind::Or>},
    {"Or", "7", 2, 2, "", logical<BinaryKind::Or>},
    {"Xor", "1", 2, 2, kOldBroadcast, logical<BinaryKind::Xor>},
    {"Xor", "7", 2, 2, "", logical<BinaryKind::Xor>},
    {"Equal", "1", 2, 2, kOldBroadcast, comparison<ComparePredicate::Eq>},
    {"Equal", "7 11 13 19", 2, 2, "", comparison<ComparePredicate::Eq>},
    {"Less", "1", 2, 2, kOldBroadcast, comparison<ComparePredicate::Lt>},
    {"Less", "7 9 13", 2, 2, "", comparison<ComparePredicate::Lt>},
    {"LessOrEqual", "12 16", 2, 2, "", comparison<ComparePredicate::Le>},
    {"Greater", "1", 2, 2, kOldBroadcast, comparison<ComparePredicate::Gt>},
    {"Greater", "7 9 13", 2, 2, "", comparison<ComparePredicate::Gt>},
    {"GreaterOrEqual", "12 16", 2, 2, "", comparison<ComparePredicate::Ge>},
    {"Max", "6 8 12 13", 1, kVariadic, "", variadic<BinaryKind::Max>},
    {"Min", "6 8 12 13", 1, kVariadic, "", variadic<BinaryKind::Min>},
    {"Sum", "6 8 13", 1, kVariadic, "", widen<variadic<BinaryKind::Add>>},
    {"Mean", "6 8 13", 1, kVariadic, "", widen<meanOfInputs>},
    {"Where", "9 16", 3, 3, "", where},
};
} // namespace

ArrayRef<OnnxOp> elementwiseOps() { return kOps; }

} // namespace autopar
