//===- Elementwise.cpp - Derivatives of functions of elements -------------===//
//
// At a kink the derivative of a function is PyTorch's: 0 for relu and abs, a
// half for each of two equal operands of max and min, and 1 at a bound that is
// a number (torch.clamp).
//
//===----------------------------------------------------------------------===//

#include "Derivatives.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace autopar {

namespace {

/// (1 + erf(x/sqrt 2))/2 + x * exp(-x^2/2)/sqrt(2 pi).
Value geluErfSlope(TensorBuilder &b, Value x) {
  Value erf = b.unary(UnaryKind::Erf, b.mul(x, M_SQRT1_2));
  Value below = b.mul(b.binary(BinaryKind::Add, erf, 1), 0.5);
  Value density = b.unary(UnaryKind::Exp, b.mul(b.mul(x, x), -0.5));
  return b.add(below, b.mul(x, b.mul(density, M_SQRT1_2 * M_2_SQRTPI / 2)));
}

/// (1 + t)/2 + x * (1 - t^2)/2 * c * (1 + 3 k x^2), with t = tanh(c (x + k
/// x^3)). Far from 0, where 1 - t^2 is 0, a large x^2 would make it NaN.
Value geluTanhSlope(TensorBuilder &b, Value x) {
  const double c = M_SQRT1_2 * M_2_SQRTPI, k = 0.044715, far = 32;
  x = b.binary(BinaryKind::Max, b.binary(BinaryKind::Min, x, far), -far);
  Value square = b.mul(x, x);
  Value inner =
      b.mul(b.mul(x, b.binary(BinaryKind::Add, b.mul(square, k), 1)), c);
  Value t = b.unary(UnaryKind::Tanh, inner);
  Value half = b.mul(b.binary(BinaryKind::Add, t, 1), 0.5);
  Value rest = b.sub(b.splatLike(x, 1), b.mul(t, t));
  Value slope =
      b.mul(b.binary(BinaryKind::Add, b.mul(square, 3 * k), 1), c / 2);
  return b.add(half, b.mul(x, b.mul(rest, slope)));
}

/// The slope at `x`, computed in f32 at least: its parts cancel.
Value wideSlope(TensorBuilder &b, Value x,
                Value (*slope)(TensorBuilder &, Value)) {
  Type element = cast<ShapedType>(x.getType()).getElementType();
  Type wide =
      element.getIntOrFloatBitWidth() < 32 ? b.builder.getF32Type() : element;
  return b.convert(slope(b, b.convert(x, wide)), element);
}

struct UnaryDerivative : Derivative<UnaryDerivative, UnaryOp> {
  static Gradients build(UnaryOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    return SmallVector<Value>{
        operand(op.getKind(), b, op.getInput(), op.getResult(), g)};
  }

private:
  static Value operand(UnaryKind kind, TensorBuilder &b, Value x, Value y,
                       Value g) {
    switch (kind) {
    case UnaryKind::Abs:
      return b.mul(g, b.unary(UnaryKind::Sign, x));
    case UnaryKind::Cos:
      return b.unary(UnaryKind::Neg, b.mul(g, b.unary(UnaryKind::Sin, x)));
    case UnaryKind::Erf:
      return b.mul(g, b.mul(b.unary(UnaryKind::Exp,
                                    b.unary(UnaryKind::Neg, b.mul(x, x))),
                            M_2_SQRTPI));
    case UnaryKind::Exp:
      return b.mul(g, y);
    case UnaryKind::GeluErf:
      return b.mul(g, wideSlope(b, x, geluErfSlope));
    case UnaryKind::GeluTanh:
      return b.mul(g, wideSlope(b, x, geluTanhSlope));
    case UnaryKind::Log:
      return b.div(g, x);
    case UnaryKind::Neg:
      return b.unary(UnaryKind::Neg, g);
    case UnaryKind::Reciprocal:
      return b.unary(UnaryKind::Neg, b.mul(g, b.mul(y, y)));
    case UnaryKind::Relu:
      return b.selectOrZero(b.compare(ComparePredicate::Gt, y, 0.0), g);
    case UnaryKind::Rsqrt:
      return b.mul(b.mul(g, -0.5), b.mul(y, b.mul(y, y)));
    case UnaryKind::Sigmoid:
      return b.mul(g, b.mul(y, b.sub(b.splatLike(y, 1), y)));
    case UnaryKind::Sin:
      return b.mul(g, b.unary(UnaryKind::Cos, x));
    case UnaryKind::Sqrt:
      return b.div(b.mul(g, 0.5), y);
    case UnaryKind::Tanh:
      return b.mul(g, b.sub(b.splatLike(y, 1), b.mul(y, y)));
    case UnaryKind::Atan:
      return b.div(g, b.binary(BinaryKind::Add, b.mul(x, x), 1));
    case UnaryKind::Ceil:
    case UnaryKind::Floor:
    case UnaryKind::Round:
    case UnaryKind::Sign:
    case UnaryKind::Not:
    case UnaryKind::IsNan:
    case UnaryKind::IsInf:
      return {}; // flat almost everywhere
    }
    llvm_unreachable("unknown function");
  }
};

/// The number that all elements of a constant are.
std::optional<double> splatNumber(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  return constant.getSplatValue<APFloat>().convertToDouble();
}

struct BinaryDerivative : Derivative<BinaryDerivative, BinaryOp> {
  static Gradients build(BinaryOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool> wanted) {
    SmallVector<Value> gradients(2);
    if (wanted[0])
      gradients[0] = ofLhs(op, b, g);
    if (wanted[1])
      gradients[1] = ofRhs(op, b, g);
    return gradients;
  }

private:
  /// g where `value` is the result, a half where the other is, too.
  static Value chosen(BinaryOp op, TensorBuilder &b, Value g, Value value) {
    Value other = value == op.getLhs() ? op.getRhs() : op.getLhs();
    if (splatNumber(other))
      return b.selectOrZero(
          b.compare(ComparePredicate::Eq, value, op.getResult()), g);
    Value equal = b.compare(ComparePredicate::Eq, op.getLhs(), op.getRhs());
    Value taken = b.compare(ComparePredicate::Eq, value, op.getResult());
    return b.select(equal, b.mul(g, 0.5), b.selectOrZero(taken, g));
  }
  static Value quotient(BinaryOp op, TensorBuilder &b) {
    Value quotient = b.div(op.getLhs(), op.getRhs());
    Value floor = b.unary(UnaryKind::Floor, quotient);
    if (op.getKind() == BinaryKind::Mod)
      return floor;
    return b.select(b.compare(ComparePredicate::Lt, quotient, 0.0),
                    b.unary(UnaryKind::Ceil, quotient), floor);
  }
  static Value ofLhs(BinaryOp op, TensorBuilder &b, Value g) {
    Value lhs = op.getLhs(), rhs = op.getRhs();
    switch (op.getKind()) {
    case BinaryKind::Add:
    case BinaryKind::Sub:
    case BinaryKind::Mod:
    case BinaryKind::FMod:
      return g;
    case BinaryKind::Mul:
      return b.mul(g, rhs);
    case BinaryKind::Div:
      return b.div(g, rhs);
    case BinaryKind::Max:
    case BinaryKind::Min:
      return chosen(op, b, g, lhs);
    case BinaryKind::Pow:
      return ofBase(op, b, g);
    default:
      return {}; // of integers
    }
  }
  static Value ofRhs(BinaryOp op, TensorBuilder &b, Value g) {
    Value lhs = op.getLhs(), rhs = op.getRhs();
    switch (op.getKind()) {
    case BinaryKind::Add:
      return g;
    case BinaryKind::Sub:
      return b.unary(UnaryKind::Neg, g);
    case BinaryKind::Mul:
      return b.mul(g, lhs);
    case BinaryKind::Div:
      return b.unary(UnaryKind::Neg, b.mul(g, b.div(op.getResult(), rhs)));
    case BinaryKind::Max:
    case BinaryKind::Min:
      return chosen(op, b, g, rhs);
    case BinaryKind::Pow:
      return ofExponent(op, b, g);
    case BinaryKind::Mod:
    case BinaryKind::FMod:
      return b.unary(UnaryKind::Neg, b.mul(g, quotient(op, b)));
    default:
      return {}; // of integers
    }
  }
  /// g * p * x^(p-1), which is 0 for p = 0 whatever x is.
  static Value ofBase(BinaryOp op, TensorBuilder &b, Value g) {
    Value base = op.getLhs(), exponent = op.getRhs();
    if (splatNumber(exponent) == 2.0)
      return b.mul(g, b.mul(base, 2));
    Value slope =
        b.mul(exponent, b.binary(BinaryKind::Pow, base,
                                 b.binary(BinaryKind::Sub, exponent, 1)));
    if (splatNumber(exponent).value_or(0) != 0)
      return b.mul(g, slope);
    return b.selectOrZero(b.compare(ComparePredicate::Ne, exponent, 0.0),
                          b.mul(g, slope));
  }
  /// g * x^p * log x, which is 0 for x = 0 and p not below 0.
  static Value ofExponent(BinaryOp op, TensorBuilder &b, Value g) {
    Value slope = b.mul(op.getResult(), b.unary(UnaryKind::Log, op.getLhs()));
    Value isThere = b.binary(BinaryKind::Or,
                             b.compare(ComparePredicate::Ne, op.getLhs(), 0.0),
                             b.compare(ComparePredicate::Lt, op.getRhs(), 0.0));
    return b.selectOrZero(isThere, b.mul(g, slope));
  }
};

struct SelectDerivative : Derivative<SelectDerivative, SelectOp> {
  static Gradients build(SelectOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool> wanted) {
    SmallVector<Value> gradients(3);
    Value zero = b.splatLike(g, 0);
    if (wanted[1])
      gradients[1] = b.select(op.getCondition(), g, zero);
    if (wanted[2])
      gradients[2] = b.select(op.getCondition(), zero, g);
    return gradients;
  }
};

struct ConvertDerivative : Derivative<ConvertDerivative, ConvertOp> {
  static Gradients build(ConvertOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Type element = cast<ShapedType>(op.getInput().getType()).getElementType();
    return SmallVector<Value>{b.convert(g, element)};
  }
};

} // namespace

void registerElementwiseDerivatives(MLIRContext *context) {
  UnaryOp::attachInterface<UnaryDerivative>(*context);
  BinaryOp::attachInterface<BinaryDerivative>(*context);
  SelectOp::attachInterface<SelectDerivative>(*context);
  ConvertOp::attachInterface<ConvertDerivative>(*context);
}

} // namespace autopar
