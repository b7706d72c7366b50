//===- FunctionSlopes.cpp - Slopes of functions of elements ---------------===//

#include "FunctionSlopes.h"

using namespace mlir;

namespace autopar {

static Value negative(TensorBuilder &b, Value x) {
  return b.unary(UnaryKind::Neg, x);
}

static Value plusOne(TensorBuilder &b, Value x) {
  return b.binary(BinaryKind::Add, x, 1);
}

/// (1 - x) * (1 + x), which keeps the digits of 1 - x^2 near 1.
static Value oneMinusSquare(TensorBuilder &b, Value x) {
  return b.mul(b.sub(b.splatLike(x, 1), x), plusOne(b, x));
}

Value asinSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  return b.unary(UnaryKind::Rsqrt, oneMinusSquare(b, call.inputs[0]));
}

Value acosSlope(FunctionCall &call) {
  return negative(call.b, asinSlope(call));
}

/// 1 / (1 - x^2)
Value atanhSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  return b.unary(UnaryKind::Reciprocal, oneMinusSquare(b, call.inputs[0]));
}

/// 1 / sqrt(1 + x^2), by the larger of 1 and |x|: no square overflows.
Value asinhSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value size = b.unary(UnaryKind::Abs, call.inputs[0]);
  Value large = b.binary(BinaryKind::Max, size, 1);
  Value small = b.div(b.binary(BinaryKind::Min, size, 1), large);
  return b.div(b.unary(UnaryKind::Rsqrt, plusOne(b, b.mul(small, small))),
               large);
}

/// 1 / (sqrt(x - 1) * sqrt(x + 1))
Value acoshSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0];
  return b.mul(b.unary(UnaryKind::Rsqrt, b.binary(BinaryKind::Sub, x, 1)),
               b.unary(UnaryKind::Rsqrt, plusOne(b, x)));
}

/// (exp(|x|) + sign * exp(-|x|)) / 2. With h = exp(|x| / 2) it overflows only
/// where the result does.
static Value halfSum(TensorBuilder &b, Value x, BinaryKind kind) {
  Value h = b.unary(UnaryKind::Exp, b.mul(b.unary(UnaryKind::Abs, x), 0.5));
  Value up = b.mul(b.mul(h, 0.5), h);
  Value down = b.div(b.div(b.splatLike(x, 0.5), h), h);
  return b.binary(kind, up, down);
}

/// cosh(x)
Value sinhSlope(FunctionCall &call) {
  return halfSum(call.b, call.inputs[0], BinaryKind::Add);
}

/// sinh(x): below 1, where the halves cancel, by its series.
Value coshSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0], square = b.mul(x, x);
  Value series = b.splatLike(x, 1);
  for (int term = 16; term > 0; term -= 2) // up to x^17 / 17!
    series =
        plusOne(b, b.mul(b.mul(series, square), 1.0 / (term * (term + 1))));
  Value large =
      b.mul(b.unary(UnaryKind::Sign, x), halfSum(b, x, BinaryKind::Sub));
  Value isSmall = b.compare(ComparePredicate::Lt, square, 1.0);
  return b.select(isSmall, b.mul(x, series), large);
}

Value eluSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0];
  double rate = call.op.getNumber("rate", 1),
         scale = call.op.getNumber("scale", 1),
         alpha = call.op.getNumber("alpha", 1);
  // No exponential of what is above 0, which overflows.
  Value below = b.binary(BinaryKind::Min, x, 0.0);
  Value decay = b.unary(UnaryKind::Exp, b.mul(below, rate));
  return b.select(b.compare(ComparePredicate::Gt, x, 0.0),
                  b.splatLike(x, scale), b.mul(decay, scale * alpha * rate));
}

Value softplusSlope(FunctionCall &call) {
  return call.b.unary(UnaryKind::Sigmoid, call.inputs[0]);
}

Value hardSigmoidSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  double alpha = call.op.getNumber("alpha");
  Value line = b.binary(BinaryKind::Add, b.mul(call.inputs[0], alpha),
                        call.op.getNumber("beta"));
  Value inside =
      b.binary(BinaryKind::And, b.compare(ComparePredicate::Gt, line, 0.0),
               b.compare(ComparePredicate::Lt, line, 1.0));
  return b.selectOrZero(inside, b.splatLike(line, alpha));
}

Value betweenSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0];
  double low = call.op.getNumber("low"), high = call.op.getNumber("high");
  Value inside =
      b.binary(BinaryKind::And, b.compare(ComparePredicate::Gt, x, low),
               b.compare(ComparePredicate::Lt, x, high));
  return b.selectOrZero(inside, b.splatLike(x, 1));
}

/// 0 up to -3, 1 from 3 on, between them x / 3 + 1 / 2.
Value hardSwishSlope(FunctionCall &call) {
  TensorBuilder &b = call.b;
  Value x = call.inputs[0];
  Value between = b.binary(BinaryKind::Add, b.mul(x, 1.0 / 3), 0.5);
  Value rises = b.select(b.compare(ComparePredicate::Lt, x, 3.0), between,
                         b.splatLike(x, 1));
  return b.selectOrZero(b.compare(ComparePredicate::Gt, x, -3.0), rises);
}

} // namespace autopar
