//===- EmitIntegers.cpp - Functions of integers ---------------------------===//

#include "ElementArithmetic.h"

using namespace mlir;

namespace autopar::loops {

static Value emitSign(Arithmetic a, Value x, bool isUnsigned) {
  Value zero = a.number(x, 0), one = a.number(x, 1);
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

/// A divisor of 0 gives 0, and the smallest integer over -1 does not trap.
static Value emitIntegerDivision(Arithmetic a, BinaryKind kind, Value x,
                                 Value y, bool isUnsigned) {
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

/// Emits a power by squaring, from the exponent's highest bit down. A negative
/// exponent gives the real power rounded towards zero: 1, -1 or 0.
static Value emitIntegerPower(Arithmetic a, Value x, Value y, bool isUnsigned) {
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
  // The power of 1 and -1 follows from the exponent's lowest bit; for other
  // bases it is 0.
  Value odd =
      emit.make<arith::CmpIOp>(I::ne, emit.make<arith::AndIOp>(y, one), zero);
  Value isUnit =
      emit.make<arith::CmpIOp>(I::eq, emit.make<math::AbsIOp>(x), one);
  Value rest = a.select(isUnit, a.select(odd, x, one), zero);
  Value negative = emit.make<arith::CmpIOp>(I::slt, y, zero);
  return a.select(negative, rest, power);
}

/// A shift by the width or more gives 0, or copies of the sign.
static Value emitShift(Arithmetic a, BinaryKind kind, Value x, Value y,
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

} // namespace autopar::loops
