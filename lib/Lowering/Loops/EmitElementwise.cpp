//===- EmitElementwise.cpp - Functions of one index -----------------------===//

#include "LoopEmitter.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace autopar::loops {

namespace {

/// Arithmetic on computed values. Additions may be fused with products; nothing
/// else is relaxed: infinities and NaN are part of masks.
struct Arithmetic {
  LoopEmitter &emit;
  arith::FastMathFlags flags =
      arith::FastMathFlags::contract | arith::FastMathFlags::nsz;

  Value add(Value a, Value b) { return emit.make<arith::AddFOp>(a, b, flags); }
  Value sub(Value a, Value b) { return emit.make<arith::SubFOp>(a, b, flags); }
  Value mul(Value a, Value b) { return emit.make<arith::MulFOp>(a, b, flags); }
  Value div(Value a, Value b) { return emit.make<arith::DivFOp>(a, b); }
  Value number(Value like, double value) {
    return emit.constant(like.getType(), value);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return emit.make<arith::CmpFOp>(predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return emit.make<arith::SelectOp>(condition, a, b);
  }
  Value exp(Value x) { return emit.make<math::ExpOp>(x); }
  Value erf(Value x);
  Value tanh(Value x) { return emit.make<math::TanhOp>(x); }
  Value sigmoid(Value x);
};

/// In f32 the rational minimax form on [-4, 4] with one division: within 5e-7,
/// in half the time of a piecewise polynomial.
Value Arithmetic::erf(Value x) {
  if (!x.getType().isF32())
    return emit.make<math::ErfOp>(x);
  static constexpr double over[] = {
      -2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06,
      -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03,
      -1.60960333262415e-02};
  static constexpr double under[] = {
      -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
      -7.37332916720468e-03, -1.42647390514189e-02};
  Value low = number(x, -4), high = number(x, 4);
  x = select(compare(arith::CmpFPredicate::OLT, x, low), low, x);
  x = select(compare(arith::CmpFPredicate::OGT, x, high), high, x);
  Value square = mul(x, x);
  auto polynomial = [&](ArrayRef<double> coefficients) {
    Value sum = number(x, coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = add(mul(sum, square), number(x, coefficient));
    return sum;
  };
  return div(mul(x, polynomial(over)), polynomial(under));
}

Value Arithmetic::sigmoid(Value x) {
  Value one = number(x, 1);
  return div(one, add(one, exp(sub(number(x, 0), x))));
}

Value emitSign(Arithmetic a, Value x, bool isUnsigned) {
  Value zero = a.number(x, 0), one = a.number(x, 1);
  if (isa<FloatType>(x.getType())) {
    Value positive = a.compare(arith::CmpFPredicate::OGT, x, zero);
    Value negative = a.compare(arith::CmpFPredicate::OLT, x, zero);
    return a.select(positive, one, a.select(negative, a.number(x, -1), x));
  }
  Value positive = a.emit.make<arith::CmpIOp>(
      isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, x,
      zero);
  Value rest = isUnsigned ? zero
                          : a.select(a.emit.make<arith::CmpIOp>(
                                         arith::CmpIPredicate::slt, x, zero),
                                     a.number(x, -1), zero);
  return a.select(positive, one, rest);
}

Value emitIntegerUnary(Arithmetic a, UnaryKind kind, Value x, bool isUnsigned) {
  LoopEmitter &emit = a.emit;
  Value zero = a.number(x, 0);
  switch (kind) {
  case UnaryKind::Abs:
    return isUnsigned ? x : emit.make<math::AbsIOp>(x);
  case UnaryKind::Neg:
    return emit.make<arith::SubIOp>(zero, x);
  case UnaryKind::Not:
    return emit.make<arith::XOrIOp>(x, a.number(x, -1));
  case UnaryKind::Relu:
    return isUnsigned ? x : emit.make<arith::MaxSIOp>(x, zero);
  case UnaryKind::Sign:
    return emitSign(a, x, isUnsigned);
  case UnaryKind::IsNan:
  case UnaryKind::IsInf:
    return emit.constant(emit.builder.getI1Type(), 0);
  default:
    return x; // floor, ceil, round; the others are floating-point only
  }
}

Value emitGelu(Arithmetic a, Value x, bool tanhForm) {
  Value half = a.mul(x, a.number(x, 0.5)), one = a.number(x, 1);
  if (!tanhForm)
    return a.mul(half, a.add(one, a.erf(a.mul(x, a.number(x, M_SQRT1_2)))));
  Value cube = a.mul(a.mul(x, x), a.mul(x, a.number(x, 0.044715)));
  Value inner = a.mul(a.add(x, cube), a.number(x, std::sqrt(2 / M_PI)));
  return a.mul(half, a.add(one, a.tanh(inner)));
}

Value emitFloatUnary(Arithmetic a, UnaryKind kind, Value x) {
  LoopEmitter &emit = a.emit;
  switch (kind) {
  case UnaryKind::Abs:
    return emit.make<math::AbsFOp>(x);
  case UnaryKind::Atan:
    return emit.make<math::AtanOp>(x);
  case UnaryKind::Ceil:
    return emit.make<math::CeilOp>(x);
  case UnaryKind::Cos:
    return emit.make<math::CosOp>(x);
  case UnaryKind::Erf:
    return a.erf(x);
  case UnaryKind::Exp:
    return a.exp(x);
  case UnaryKind::Floor:
    return emit.make<math::FloorOp>(x);
  case UnaryKind::GeluErf:
    return emitGelu(a, x, /*tanhForm=*/false);
  case UnaryKind::GeluTanh:
    return emitGelu(a, x, /*tanhForm=*/true);
  case UnaryKind::IsNan:
    return a.compare(arith::CmpFPredicate::UNO, x, x);
  case UnaryKind::IsInf:
    return a.compare(arith::CmpFPredicate::OEQ, emit.make<math::AbsFOp>(x),
                     a.number(x, INFINITY));
  case UnaryKind::Log:
    return emit.make<math::LogOp>(x);
  case UnaryKind::Neg:
    return emit.make<arith::NegFOp>(x);
  case UnaryKind::Not:
    return a.compare(arith::CmpFPredicate::OEQ, x, a.number(x, 0));
  case UnaryKind::Reciprocal:
    return a.div(a.number(x, 1), x);
  case UnaryKind::Relu: // NaN stays: it is not below zero
    return a.select(a.compare(arith::CmpFPredicate::OLT, x, a.number(x, 0)),
                    a.number(x, 0), x);
  case UnaryKind::Round:
    return emit.make<math::RoundEvenOp>(x);
  case UnaryKind::Rsqrt:
    return a.div(a.number(x, 1), emit.make<math::SqrtOp>(x));
  case UnaryKind::Sigmoid:
    return a.sigmoid(x);
  case UnaryKind::Sign:
    return emitSign(a, x, false);
  case UnaryKind::Sin:
    return emit.make<math::SinOp>(x);
  case UnaryKind::Sqrt:
    return emit.make<math::SqrtOp>(x);
  case UnaryKind::Tanh:
    return a.tanh(x);
  }
  return x;
}

/// A divisor of 0 gives 0, and the smallest integer over -1 does not trap.
Value emitIntegerDivision(Arithmetic a, BinaryKind kind, Value x, Value y,
                          bool isUnsigned) {
  LoopEmitter &emit = a.emit;
  Value zero = a.number(x, 0), one = a.number(x, 1);
  Value bad = emit.make<arith::CmpIOp>(arith::CmpIPredicate::eq, y, zero);
  Value divisor = a.select(bad, one, y);
  if (isUnsigned) {
    Value result = kind == BinaryKind::Div
                       ? emit.make<arith::DivUIOp>(x, divisor)
                       : emit.make<arith::RemUIOp>(x, divisor);
    return a.select(bad, zero, result);
  }
  Value minusOne =
      emit.make<arith::CmpIOp>(arith::CmpIPredicate::eq, y, a.number(x, -1));
  Value safe = a.select(minusOne, one, divisor);
  if (kind == BinaryKind::Div) {
    Value quotient = a.select(minusOne, emit.make<arith::SubIOp>(zero, x),
                              emit.make<arith::DivSIOp>(x, safe));
    return a.select(bad, zero, quotient);
  }
  Value rest = a.select(minusOne, zero, emit.make<arith::RemSIOp>(x, safe));
  if (kind == BinaryKind::Mod) { // with the divisor's sign
    Value differs = emit.make<arith::CmpIOp>(
        arith::CmpIPredicate::slt, emit.make<arith::XOrIOp>(rest, y), zero);
    Value nonZero =
        emit.make<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, zero);
    rest = a.select(emit.make<arith::AndIOp>(differs, nonZero),
                    emit.make<arith::AddIOp>(rest, y), rest);
  }
  return a.select(bad, zero, rest);
}

/// By squaring, from the exponent's highest bit down. A negative exponent gives
/// what is left of the real power: 1, -1 or 0.
Value emitIntegerPower(Arithmetic a, Value x, Value y, bool isUnsigned) {
  using I = arith::CmpIPredicate;
  LoopEmitter &emit = a.emit;
  int64_t width = x.getType().getIntOrFloatBitWidth();
  Value zero = a.number(x, 0), one = a.number(x, 1);
  Value last = a.number(x, width - 1);
  auto square = [&](Index step, Value acc) {
    Value number = step.value;
    if (width < 64)
      number = emit.make<arith::TruncIOp>(x.getType(), number);
    Value shifted =
        emit.make<arith::ShRUIOp>(y, emit.make<arith::SubIOp>(last, number));
    Value bit = emit.make<arith::CmpIOp>(
        I::ne, emit.make<arith::AndIOp>(shifted, one), zero);
    return emit.make<arith::MulIOp>(emit.make<arith::MulIOp>(acc, acc),
                                    a.select(bit, x, one));
  };
  Value power =
      emit.foldRange(emit.constantInt(width),
                     std::max(emit.depth(x), emit.depth(y)), one, square);
  if (isUnsigned)
    return power;
  // Of 1 and -1 the power with the exponent's lowest bit; else 0.
  Value odd =
      emit.make<arith::CmpIOp>(I::ne, emit.make<arith::AndIOp>(y, one), zero);
  Value isUnit =
      emit.make<arith::CmpIOp>(I::eq, emit.make<math::AbsIOp>(x), one);
  Value rest = a.select(isUnit, a.select(odd, x, one), zero);
  Value negative = emit.make<arith::CmpIOp>(I::slt, y, zero);
  return a.select(negative, rest, power);
}

/// A shift by the width or more gives 0, or copies of the sign.
Value emitShift(Arithmetic a, BinaryKind kind, Value x, Value y,
                bool isUnsigned) {
  LoopEmitter &emit = a.emit;
  Value zero = a.number(x, 0);
  Value width = a.number(x, x.getType().getIntOrFloatBitWidth());
  Value inside = emit.make<arith::CmpIOp>(arith::CmpIPredicate::ult, y, width);
  if (kind == BinaryKind::Shr && !isUnsigned) {
    Value most = a.number(x, x.getType().getIntOrFloatBitWidth() - 1);
    return emit.make<arith::ShRSIOp>(x, a.select(inside, y, most));
  }
  Value by = a.select(inside, y, zero);
  Value shifted = kind == BinaryKind::Shl ? emit.make<arith::ShLIOp>(x, by)
                                          : emit.make<arith::ShRUIOp>(x, by);
  return a.select(inside, shifted, zero);
}

Value emitIntegerBinary(Arithmetic a, BinaryKind kind, Value x, Value y,
                        bool isUnsigned) {
  LoopEmitter &emit = a.emit;
  switch (kind) {
  case BinaryKind::Add:
    return emit.make<arith::AddIOp>(x, y);
  case BinaryKind::Sub:
    return emit.make<arith::SubIOp>(x, y);
  case BinaryKind::Mul:
    return emit.make<arith::MulIOp>(x, y);
  case BinaryKind::Div:
  case BinaryKind::Mod:
  case BinaryKind::FMod:
    return emitIntegerDivision(a, kind, x, y, isUnsigned);
  case BinaryKind::Max:
    return isUnsigned ? emit.make<arith::MaxUIOp>(x, y)
                      : emit.make<arith::MaxSIOp>(x, y);
  case BinaryKind::Min:
    return isUnsigned ? emit.make<arith::MinUIOp>(x, y)
                      : emit.make<arith::MinSIOp>(x, y);
  case BinaryKind::Pow:
    return emitIntegerPower(a, x, y, isUnsigned);
  case BinaryKind::And:
    return emit.make<arith::AndIOp>(x, y);
  case BinaryKind::Or:
    return emit.make<arith::OrIOp>(x, y);
  case BinaryKind::Xor:
    return emit.make<arith::XOrIOp>(x, y);
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    return emitShift(a, kind, x, y, isUnsigned);
  }
  return x;
}

Value emitFloatBinary(Arithmetic a, BinaryKind kind, Value x, Value y) {
  LoopEmitter &emit = a.emit;
  switch (kind) {
  case BinaryKind::Add:
    return a.add(x, y);
  case BinaryKind::Sub:
    return a.sub(x, y);
  case BinaryKind::Mul:
    return a.mul(x, y);
  case BinaryKind::Div:
    return a.div(x, y);
  case BinaryKind::Max:
    return emit.make<arith::MaximumFOp>(x, y);
  case BinaryKind::Min:
    return emit.make<arith::MinimumFOp>(x, y);
  case BinaryKind::Pow:
    return emit.make<math::PowFOp>(x, y);
  case BinaryKind::FMod:
    return emit.make<arith::RemFOp>(x, y);
  case BinaryKind::Mod: {
    Value rest = emit.make<arith::RemFOp>(x, y), zero = a.number(x, 0);
    Value differs = emit.make<arith::XOrIOp>(
        a.compare(arith::CmpFPredicate::OLT, rest, zero),
        a.compare(arith::CmpFPredicate::OLT, y, zero));
    Value nonZero = a.compare(arith::CmpFPredicate::ONE, rest, zero);
    return a.select(emit.make<arith::AndIOp>(differs, nonZero), a.add(rest, y),
                    rest);
  }
  default:
    return x; // and, or, xor are refused by the verifier
  }
}

Value emitCompare(LoopEmitter &emit, ComparePredicate predicate, Value x,
                  Value y, bool isUnsigned) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  unsigned row = static_cast<unsigned>(predicate);
  static const F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static const I integers[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static const I naturals[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  if (isa<FloatType>(x.getType()))
    return emit.make<arith::CmpFOp>(floats[row], x, y);
  return emit.make<arith::CmpIOp>(isUnsigned ? naturals[row] : integers[row], x,
                                  y);
}

Value emitConvert(LoopEmitter &emit, Value x, Type from, Type to) {
  Type source = x.getType(), target = computeType(getElementTypeOrSelf(to));
  bool fromNatural = isNatural(from), toNatural = isNatural(to);
  if (source == target)
    return x;
  if (target.isInteger(1))
    return isa<FloatType>(source)
               ? emit.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x,
                                          emit.constant(source, 0))
               : emit.make<arith::CmpIOp>(arith::CmpIPredicate::ne, x,
                                          emit.constant(source, 0));
  unsigned width = source.getIntOrFloatBitWidth();
  unsigned wanted = target.getIntOrFloatBitWidth();
  if (isa<FloatType>(source) && isa<FloatType>(target))
    return width < wanted ? emit.make<arith::ExtFOp>(target, x)
                          : emit.make<arith::TruncFOp>(target, x);
  if (isa<FloatType>(source))
    return toNatural ? emit.make<arith::FPToUIOp>(target, x)
                     : emit.make<arith::FPToSIOp>(target, x);
  if (isa<FloatType>(target))
    return fromNatural ? emit.make<arith::UIToFPOp>(target, x)
                       : emit.make<arith::SIToFPOp>(target, x);
  if (wanted < width)
    return emit.make<arith::TruncIOp>(target, x);
  return fromNatural ? emit.make<arith::ExtUIOp>(target, x)
                     : emit.make<arith::ExtSIOp>(target, x);
}

} // namespace

bool isNatural(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isUnsignedInteger() || element.isInteger(1);
}

Value emitElementwise(LoopEmitter &emit, Operation *op, ArrayRef<Index> at) {
  Arithmetic a{emit};
  auto operand = [&](Value tensor) { return emit.element(tensor, at); };
  return TypeSwitch<Operation *, Value>(op)
      .Case<UnaryOp>([&](UnaryOp unary) {
        Value x = operand(unary.getInput());
        return isa<FloatType>(x.getType())
                   ? emitFloatUnary(a, unary.getKind(), x)
                   : emitIntegerUnary(a, unary.getKind(), x,
                                      isNatural(unary.getType()));
      })
      .Case<BinaryOp>([&](BinaryOp binary) {
        Value x = operand(binary.getLhs()), y = operand(binary.getRhs());
        return isa<FloatType>(x.getType())
                   ? emitFloatBinary(a, binary.getKind(), x, y)
                   : emitIntegerBinary(a, binary.getKind(), x, y,
                                       isNatural(binary.getType()));
      })
      .Case<CompareOp>([&](CompareOp compare) {
        Value x = operand(compare.getLhs()), y = operand(compare.getRhs());
        return emitCompare(emit, compare.getPredicate(), x, y,
                           isNatural(compare.getLhs().getType()));
      })
      .Case<SelectOp>([&](SelectOp select) {
        Value condition = operand(select.getCondition());
        return a.select(condition, operand(select.getOnTrue()),
                        operand(select.getOnFalse()));
      })
      .Case<ConvertOp>([&](ConvertOp convert) {
        return emitConvert(emit, operand(convert.getInput()),
                           convert.getInput().getType(), convert.getType());
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace autopar::loops
