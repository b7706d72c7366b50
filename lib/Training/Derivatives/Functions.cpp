//===- Functions.cpp - Derivatives of functions that several ops compute --===//
//
// The table has a row for each function that `autopar.function` names. The
// derivative is that of the function, and at kinks and ends of the domain that
// of PyTorch, whatever ops the importer computes the value with.
//
//===----------------------------------------------------------------------===//

#include "FunctionSlopes.h"
#include "autopar/Support/Names.h"

using namespace mlir;

namespace autopar {

namespace {

using Rule = SmallVector<Value> (*)(FunctionCall &);

/// A function of elements: the gradient times the slope at the input.
template <Value (*slope)(FunctionCall &)>
SmallVector<Value> elementwise(FunctionCall &call) {
  return {call.b.mul(call.g, slope(call))};
}

/// x * w where x <= 0, else x.
SmallVector<Value> prelu(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0], w = call.inputs[1], g = call.g;
  Value above = b.compare(ComparePredicate::Gt, x, 0.0);
  Value none = b.splatLike(g, 0);
  return {b.select(above, g, b.mul(g, w)), b.select(above, none, b.mul(g, x))};
}

/// x within bounds, which follow it: `lower`, `upper` or both. Where x is a
/// bound x has the gradient; where the bounds are crossed the upper one.
SmallVector<Value> clip(FunctionCall &call) {
  TensorBuilder &b = call.b;
  bool hasLower = call.op.getNumber("lower") != 0;
  bool hasUpper = call.op.getNumber("upper") != 0;
  Value x = call.inputs[0], g = call.g;
  Value lower = hasLower ? call.inputs[1] : Value();
  Value upper = hasUpper ? call.inputs.back() : Value();
  Value below, above;
  if (lower)
    below = b.compare(ComparePredicate::Lt, x, lower);
  if (upper)
    above = b.compare(ComparePredicate::Gt, x, upper);
  Value none = b.splatLike(g, 0), outside = below ? below : above;
  if (below && above) {
    outside = b.binary(BinaryKind::Or, below, above);
    Value crossed = b.compare(ComparePredicate::Gt, lower, upper);
    above = b.binary(BinaryKind::Or, above, crossed);
    below = b.binary(BinaryKind::And, below, b.unary(UnaryKind::Not, crossed));
  }
  SmallVector<Value> gradients{b.select(outside, none, g)};
  if (below)
    gradients.push_back(b.selectOrZero(below, g));
  if (above)
    gradients.push_back(b.selectOrZero(above, g));
  return gradients;
}

/// The `exponent`-th power of a sum of powers, which makes a norm: 0 at 0, as
/// the norm's derivative there.
SmallVector<Value> root(FunctionCall &call) {
  TensorBuilder &b = call.b;
  double exponent = call.op.getNumber("exponent");
  Value sum = call.inputs[0];
  Value slope = exponent == 0.5
                    ? b.div(b.mul(call.g, 0.5), call.y)
                    : b.mul(b.mul(call.g, exponent), b.div(call.y, sum));
  return {b.select(b.compare(ComparePredicate::Eq, sum, 0.0),
                   b.splatLike(call.g, 0), slope)};
}

/// x / size, and 0 where the size is.
SmallVector<Value> ratio(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value size = call.inputs[1];
  Value zero = b.compare(ComparePredicate::Eq, size, 0.0);
  Value none = b.splatLike(call.g, 0);
  Value share = b.select(zero, none, b.div(call.g, size));
  return {share, b.unary(UnaryKind::Neg, b.mul(share, call.y))};
}

/// log(sum(exp(x))) over `dims`: each element's share of the sum; no shares of
/// elements that are all -inf.
SmallVector<Value> logSumExp(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0];
  ArrayRef<int64_t> dims = call.op.getDims();
  Value share = b.unary(UnaryKind::Exp, b.sub(x, b.spread(call.y, x, dims)));
  Value isThere = b.compare(ComparePredicate::Ne, x,
                            -std::numeric_limits<double>::infinity());
  return {b.mul(b.spread(call.g, x, dims), b.selectOrZero(isThere, share))};
}

/// The largest element over `dims`, of equal ones the first.
SmallVector<Value> largest(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0];
  ArrayRef<int64_t> dims = call.op.getDims(), shape = shapeOf(x);
  Value place;
  for (int64_t dim : dims) {
    Value along = b.iota(shape, b.builder.getI64Type(), dim);
    place = place ? b.add(b.mul(place, double(shape[dim])), along) : along;
  }
  if (!place)
    return {b.spread(call.g, x, dims)};
  constexpr double kNowhere = int64_t(1) << 52;
  Value hit = b.compare(ComparePredicate::Eq, x, b.spread(call.y, x, dims));
  Value places = b.select(hit, place, b.splatLike(place, kNowhere));
  Value first = b.spread(b.reduce(ReduceKind::Min, places, dims), x, dims);
  return {b.selectOrZero(b.compare(ComparePredicate::Eq, place, first),
                         b.spread(call.g, x, dims))};
}

struct Row {
  StringLiteral name;
  Rule rule;
};

const Row kRows[] = {
    {"acos", elementwise<acosSlope>},
    {"acosh", elementwise<acoshSlope>},
    {"asin", elementwise<asinSlope>},
    {"asinh", elementwise<asinhSlope>},
    {"atanh", elementwise<atanhSlope>},
    {"between", elementwise<betweenSlope>},
    {"clip", clip},
    {"cosh", elementwise<coshSlope>},
    {"elu", elementwise<eluSlope>},
    {"hard_sigmoid", elementwise<hardSigmoidSlope>},
    {"hard_swish", elementwise<hardSwishSlope>},
    {"largest", largest},
    {"log_sum_exp", logSumExp},
    {"prelu", prelu},
    {"ratio", ratio},
    {"root", root},
    {"sinh", elementwise<sinhSlope>},
    {"softplus", elementwise<softplusSlope>},
};

/// The type in which a slope is computed: f32 at least.
Type wideTypeOf(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.getIntOrFloatBitWidth() < 32
             ? Type(Float32Type::get(element.getContext()))
             : element;
}

struct FunctionDerivative : Derivative<FunctionDerivative, FunctionOp> {
  static Gradients build(FunctionOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    SmallVector<Value> gradients(1 + op.getInputs().size());
    if (!op.getDerivative()) {
      gradients[0] = g;
      return gradients;
    }
    const Row *row = llvm::find_if(
        kRows, [&](const Row &row) { return row.name == *op.getDerivative(); });
    if (row == std::end(kRows))
      return op.emitOpError()
             << "has the unknown derivative '" << *op.getDerivative() << "'"
             << nearestNames(*op.getDerivative(), std::size(kRows),
                             [](size_t i) { return kRows[i].name; });
    Type wide = wideTypeOf(op.getResult());
    FunctionCall call{
        op, b, {}, b.convert(op.getResult(), wide), b.convert(g, wide)};
    for (Value input : op.getInputs())
      call.inputs.push_back(b.convert(input, wide));
    SmallVector<Value> made = row->rule(call);
    if (made.size() != op.getInputs().size())
      return op.emitOpError()
             << "has " << op.getInputs().size() << " inputs; the derivative '"
             << *op.getDerivative() << "' is by " << made.size();
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      gradients[i + 1] = b.convert(made[i], getElementTypeOrSelf(input));
    return gradients;
  }
};

} // namespace

void registerFunctionDerivatives(MLIRContext *context) {
  FunctionOp::attachInterface<FunctionDerivative>(*context);
}

} // namespace autopar
