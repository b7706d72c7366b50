//===- ElementwiseOps.cpp - Ops that work on one index at a time ----------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// unary
//===----------------------------------------------------------------------===//

namespace {
enum class Domain { Any, Signed, Float, Integer };
} // namespace

static Domain domainOf(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Not:
    return Domain::Integer;
  case UnaryKind::Abs:
  case UnaryKind::Neg:
  case UnaryKind::Sign:
    return Domain::Signed;
  case UnaryKind::Relu:
    return Domain::Any;
  default:
    return Domain::Float;
  }
}

/// Monotone non-decreasing with a value at every point of the extended line:
/// also at the neutral elements, which rules out log and sqrt.
static bool isMonotone(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Atan:
  case UnaryKind::Ceil:
  case UnaryKind::Erf:
  case UnaryKind::Exp:
  case UnaryKind::Floor:
  case UnaryKind::Relu:
  case UnaryKind::Round:
  case UnaryKind::Sigmoid:
  case UnaryKind::Sign:
  case UnaryKind::Tanh:
    return true;
  default:
    return false;
  }
}

LogicalResult UnaryOp::verify() {
  Type element = elementOf(getInput());
  StringRef name = stringifyUnaryKind(getKind());
  Domain domain = domainOf(getKind());
  if (domain == Domain::Float && !isa<FloatType>(element))
    return emitOpError() << name << " needs a float operand";
  if (domain == Domain::Integer && !isa<IntegerType>(element))
    return emitOpError() << name << " needs an integer operand";
  if (domain == Domain::Signed && element.isInteger(1))
    return emitOpError() << name << " is not defined on i1";
  bool isTest = getKind() == UnaryKind::IsNan || getKind() == UnaryKind::IsInf;
  Type expected = isTest ? Type(IntegerType::get(getContext(), 1)) : element;
  if (elementOf(getResult()) != expected)
    return emitOpError() << name << " must give elements of type " << expected;
  return success();
}

ShardingRule UnaryOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(getType().getShape(), 1);
  if (getKind() == UnaryKind::Neg)
    addPass(rule, {0}, ReduceKind::Sum);
  if (isMonotone(getKind())) {
    addPass(rule, {0}, ReduceKind::Max);
    addPass(rule, {0}, ReduceKind::Min);
  }
  return rule;
}

KernelClass UnaryOp::getKernelClass() { return KernelClass::Elementwise; }

/// About those of the polynomials that Lowering has (MLIR's
/// PolynomialApproximation), divisions and roots as the operations that they
/// take the place of in a pipeline; of what the C library computes, many.
int64_t UnaryOp::getFlops() {
  int64_t each = 1;
  switch (getKind()) {
  case UnaryKind::Reciprocal:
  case UnaryKind::Rsqrt:
  case UnaryKind::Sqrt:
    each = 10;
    break;
  case UnaryKind::Exp:
    each = kExpFlops;
    break;
  case UnaryKind::Erf:
  case UnaryKind::GeluErf:
  case UnaryKind::GeluTanh:
  case UnaryKind::Sigmoid:
  case UnaryKind::Tanh:
    each = 30;
    break;
  case UnaryKind::Log:
    each = 40;
    break;
  case UnaryKind::Atan:
  case UnaryKind::Cos:
  case UnaryKind::Sin:
    each = 100;
    break;
  default:
    break;
  }
  return each * getType().getNumElements();
}

PrecisionClass UnaryOp::getPrecisionClass() {
  switch (getKind()) {
  case UnaryKind::Exp:
  case UnaryKind::Log:
  case UnaryKind::Reciprocal:
  case UnaryKind::Rsqrt:
    return PrecisionClass::Full;
  default:
    return PrecisionClass::Operands;
  }
}

bool UnaryOp::roundsResult() {
  switch (getKind()) {
  case UnaryKind::Abs:
  case UnaryKind::Ceil:
  case UnaryKind::Floor:
  case UnaryKind::IsInf:
  case UnaryKind::IsNan:
  case UnaryKind::Neg:
  case UnaryKind::Not:
  case UnaryKind::Relu:
  case UnaryKind::Round:
  case UnaryKind::Sign:
    return false;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// binary
//===----------------------------------------------------------------------===//

static bool isBitwise(BinaryKind kind) {
  return kind == BinaryKind::And || kind == BinaryKind::Or ||
         kind == BinaryKind::Xor || kind == BinaryKind::Shl ||
         kind == BinaryKind::Shr;
}

LogicalResult BinaryOp::verify() {
  Type element = elementOf(getLhs());
  StringRef name = stringifyBinaryKind(getKind());
  if (isBitwise(getKind()) && !isa<IntegerType>(element))
    return emitOpError() << name << " needs integer operands";
  bool ordered = getKind() == BinaryKind::Max || getKind() == BinaryKind::Min;
  if (!isBitwise(getKind()) && !ordered && element.isInteger(1))
    return emitOpError() << name
                         << " is not defined on i1; use and, or, xor, max, min";
  return success();
}

ShardingRule BinaryOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(getType().getShape(), 2);
  switch (getKind()) {
  case BinaryKind::Add:
  case BinaryKind::Sub:
    addPass(rule, {0, 1}, ReduceKind::Sum);
    break;
  case BinaryKind::Mul:
    addPass(rule, {0}, ReduceKind::Sum);
    addPass(rule, {1}, ReduceKind::Sum);
    break;
  case BinaryKind::Div: // a truncating division is not additive
    if (isa<FloatType>(elementOf(getLhs())))
      addPass(rule, {0}, ReduceKind::Sum);
    break;
  case BinaryKind::Max:
    addPass(rule, {0, 1}, ReduceKind::Max);
    break;
  case BinaryKind::Min:
    addPass(rule, {0, 1}, ReduceKind::Min);
    break;
  default:
    break;
  }
  return rule;
}

KernelClass BinaryOp::getKernelClass() { return KernelClass::Elementwise; }

PrecisionClass BinaryOp::getPrecisionClass() {
  return getKind() == BinaryKind::Pow ? PrecisionClass::Full
                                      : PrecisionClass::Operands;
}

/// The remainder with the dividend's sign is a multiple of the last place of
/// both operands; with the divisor's sign a sum may follow.
bool BinaryOp::roundsResult() {
  switch (getKind()) {
  case BinaryKind::Max:
  case BinaryKind::Min:
  case BinaryKind::FMod:
    return false;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// compare
//===----------------------------------------------------------------------===//

ShardingRule CompareOp::getShardingRule() {
  return elementwiseRule(getType().getShape(), 2);
}

KernelClass CompareOp::getKernelClass() { return KernelClass::Elementwise; }

//===----------------------------------------------------------------------===//
// select
//===----------------------------------------------------------------------===//

ShardingRule SelectOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(getType().getShape(), 3);
  addMovementPasses(rule, {1, 2}, elementOf(getResult()));
  return rule;
}

KernelClass SelectOp::getKernelClass() { return KernelClass::Elementwise; }

bool SelectOp::roundsResult() { return false; }

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

ShardingRule ConvertOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(getType().getShape(), 1);
  auto from = dyn_cast<FloatType>(elementOf(getInput()));
  auto to = dyn_cast<FloatType>(elementOf(getResult()));
  if (!from || !to)
    return rule;
  if (isWidening(from, to))
    addPass(rule, {0}, ReduceKind::Sum);
  addPass(rule, {0}, ReduceKind::Max);
  addPass(rule, {0}, ReduceKind::Min);
  return rule;
}

KernelClass ConvertOp::getKernelClass() { return KernelClass::Elementwise; }

PrecisionClass ConvertOp::getPrecisionClass() { return PrecisionClass::Fixed; }

} // namespace autopar
