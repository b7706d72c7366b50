//===- EmitElementwise.cpp - Functions of one index -----------------------===//

#include "ElementArithmetic.h"
#include "Emit.h"
#include <cmath>

using namespace mlir;

namespace autopar::loops {

/// Emits erf. For f32 it is the rational minimax form on [-4, 4] with one
/// division: within 5e-7, in half the time of a piecewise polynomial.
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

namespace {

Value emitSign(Arithmetic a, Value x) {
  Value zero = a.number(x, 0), one = a.number(x, 1);
  Value positive = a.compare(arith::CmpFPredicate::OGT, x, zero);
  Value negative = a.compare(arith::CmpFPredicate::OLT, x, zero);
  return a.select(positive, one, a.select(negative, a.number(x, -1), x));
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
    return emitSign(a, x);
  case UnaryKind::Sin:
    return emit.make<math::SinOp>(x);
  case UnaryKind::Sqrt:
    return emit.make<math::SqrtOp>(x);
  case UnaryKind::Tanh:
    return a.tanh(x);
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

static Value emitElement(LoopEmitter &emit, UnaryOp op, ArrayRef<Index> at) {
  Value x = emit.element(op.getInput(), at);
  return isa<FloatType>(x.getType())
             ? emitFloatUnary({emit}, op.getKind(), x)
             : emitIntegerUnary({emit}, op.getKind(), x,
                                isNatural(op.getType()));
}

static Value emitElement(LoopEmitter &emit, BinaryOp op, ArrayRef<Index> at) {
  Value x = emit.element(op.getLhs(), at), y = emit.element(op.getRhs(), at);
  return isa<FloatType>(x.getType())
             ? emitFloatBinary({emit}, op.getKind(), x, y)
             : emitIntegerBinary({emit}, op.getKind(), x, y,
                                 isNatural(op.getType()));
}

static Value emitElement(LoopEmitter &emit, CompareOp op, ArrayRef<Index> at) {
  Value x = emit.element(op.getLhs(), at), y = emit.element(op.getRhs(), at);
  return emitCompare(emit, op.getPredicate(), x, y,
                     isNatural(op.getLhs().getType()));
}

static Value emitElement(LoopEmitter &emit, SelectOp op, ArrayRef<Index> at) {
  Value condition = emit.element(op.getCondition(), at);
  Value onTrue = emit.element(op.getOnTrue(), at);
  Value onFalse = emit.element(op.getOnFalse(), at);
  return Arithmetic{emit}.select(condition, onTrue, onFalse);
}

static Value emitElement(LoopEmitter &emit, ConvertOp op, ArrayRef<Index> at) {
  return emitConvert(emit, emit.element(op.getInput(), at),
                     op.getInput().getType(), op.getType());
}

void addElementwise(EmitTable &table) {
  table.add([](auto op, LoopEmitter &emit,
               At at) -> decltype(emitElement(emit, op, at)) {
    return emitElement(emit, op, at);
  });
}

} // namespace autopar::loops
