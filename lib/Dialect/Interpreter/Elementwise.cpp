//===- Elementwise.cpp - Ops that work element by element, and sources ----===//

#include "Evaluate.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace autopar::interpreter {

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static double geluTanh(double x) {
  constexpr double sqrt2OverPi = 0.79788456080286535588;
  return 0.5 * x * (1 + std::tanh(sqrt2OverPi * (x + 0.044715 * x * x * x)));
}

static double sign(double x) {
  return x == 0 || std::isnan(x) ? x : (x < 0 ? -1 : 1);
}

static std::optional<double> unary(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::Abs:
    return std::abs(x);
  case UnaryKind::Atan:
    return std::atan(x);
  case UnaryKind::Ceil:
    return std::ceil(x);
  case UnaryKind::Cos:
    return std::cos(x);
  case UnaryKind::Erf:
    return std::erf(x);
  case UnaryKind::Exp:
    return std::exp(x);
  case UnaryKind::Floor:
    return std::floor(x);
  case UnaryKind::GeluErf:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case UnaryKind::GeluTanh:
    return geluTanh(x);
  case UnaryKind::IsNan:
    return std::isnan(x);
  case UnaryKind::IsInf:
    return std::isinf(x);
  case UnaryKind::Log:
    return std::log(x);
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Reciprocal:
    return 1 / x;
  case UnaryKind::Relu:
    return x < 0 ? 0 : x;
  case UnaryKind::Round:
    return std::nearbyint(x);
  case UnaryKind::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryKind::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case UnaryKind::Sign:
    return sign(x);
  case UnaryKind::Sin:
    return std::sin(x);
  case UnaryKind::Sqrt:
    return std::sqrt(x);
  case UnaryKind::Tanh:
    return std::tanh(x);
  case UnaryKind::Not:
    return std::nullopt;
  }
  return std::nullopt;
}

static std::optional<int64_t> unary(UnaryKind kind, int64_t x) {
  switch (kind) {
  case UnaryKind::Abs:
    return x < 0 ? 0 - uint64_t(x) : x;
  case UnaryKind::Neg:
    return 0 - uint64_t(x);
  case UnaryKind::Not:
    return ~x;
  case UnaryKind::Relu:
    return std::max<int64_t>(x, 0);
  case UnaryKind::Sign:
    return (x > 0) - (x < 0);
  case UnaryKind::Ceil:
  case UnaryKind::Floor:
  case UnaryKind::Round:
    return x;
  case UnaryKind::IsNan:
  case UnaryKind::IsInf:
    return 0;
  default:
    return std::nullopt;
  }
}

static Tensor evaluate(UnaryOp op, Operands in) {
  Tensor result = emptyResult(op);
  for (int64_t i = 0, e = result.size(); i < e; ++i) {
    if (in[0]->isFloat()) {
      std::optional<double> value = unary(op.getKind(), in[0]->floats[i]);
      if (!value)
        return {};
      result.set(i, *value);
      continue;
    }
    std::optional<int64_t> value = unary(op.getKind(), in[0]->ints[i]);
    if (!value)
      return {};
    result.setInt(i, *value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// Remainder with the divisor's sign.
static double floorMod(double a, double b) {
  double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static std::optional<double> binary(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return a / b;
  case BinaryKind::Max:
    return combine(ReduceKind::Max, a, b);
  case BinaryKind::Min:
    return combine(ReduceKind::Min, a, b);
  case BinaryKind::Pow:
    return std::pow(a, b);
  case BinaryKind::Mod:
    return floorMod(a, b);
  case BinaryKind::FMod:
    return std::fmod(a, b);
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::Xor:
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    return std::nullopt;
  }
  return std::nullopt;
}

/// Truncating division: 0 where the divisor is 0.
static int64_t divide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
}

static int64_t remainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t floorMod(int64_t a, int64_t b) {
  int64_t rest = remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// A negative exponent truncates what the real power would be.
static int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : (base == -1 ? (exponent % 2 ? -1 : 1) : 0);
  uint64_t result = 1, square = base;
  for (; exponent; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return result;
}

/// A shift by the width or more leaves copies of the sign, or zeros.
static int64_t shiftRight(int64_t a, int64_t b, IntegerType type) {
  bool inside = uint64_t(b) < type.getWidth();
  if (type.isUnsigned())
    return inside ? uint64_t(a) >> b : 0;
  return a >> (inside ? b : 63);
}

/// Computes on integers of `type`, to which the caller wraps the result.
static int64_t binary(BinaryKind kind, int64_t a, int64_t b, IntegerType type) {
  switch (kind) {
  case BinaryKind::Add:
    return uint64_t(a) + uint64_t(b);
  case BinaryKind::Sub:
    return uint64_t(a) - uint64_t(b);
  case BinaryKind::Mul:
    return uint64_t(a) * uint64_t(b);
  case BinaryKind::Div:
    return divide(a, b);
  case BinaryKind::Max:
    return std::max(a, b);
  case BinaryKind::Min:
    return std::min(a, b);
  case BinaryKind::Pow:
    return power(a, b);
  case BinaryKind::Mod:
    return floorMod(a, b);
  case BinaryKind::FMod:
    return remainder(a, b);
  case BinaryKind::And:
    return a & b;
  case BinaryKind::Or:
    return a | b;
  case BinaryKind::Xor:
    return a ^ b;
  case BinaryKind::Shl:
    return uint64_t(b) < type.getWidth() ? uint64_t(a) << b : 0;
  case BinaryKind::Shr:
    return shiftRight(a, b, type);
  }
  llvm_unreachable("all kinds are listed");
}

static Tensor evaluate(BinaryOp op, Operands in) {
  Tensor result = emptyResult(op);
  for (int64_t i = 0, e = result.size(); i < e; ++i) {
    if (!result.isFloat()) {
      result.setInt(i, binary(op.getKind(), in[0]->ints[i], in[1]->ints[i],
                              cast<IntegerType>(result.element())));
      continue;
    }
    std::optional<double> value =
        binary(op.getKind(), in[0]->floats[i], in[1]->floats[i]);
    if (!value)
      return {};
    result.set(i, *value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Compare, select, convert
//===----------------------------------------------------------------------===//

template <typename T> static bool holds(ComparePredicate predicate, T a, T b) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return a == b;
  case ComparePredicate::Ne:
    return a != b;
  case ComparePredicate::Lt:
    return a < b;
  case ComparePredicate::Le:
    return a <= b;
  case ComparePredicate::Gt:
    return a > b;
  case ComparePredicate::Ge:
    return a >= b;
  }
  llvm_unreachable("all predicates are listed");
}

static Tensor evaluate(CompareOp op, Operands in) {
  Tensor result = emptyResult(op);
  for (int64_t i = 0, e = result.size(); i < e; ++i)
    result.ints[i] =
        in[0]->isFloat()
            ? holds(op.getPredicate(), in[0]->floats[i], in[1]->floats[i])
            : holds(op.getPredicate(), in[0]->ints[i], in[1]->ints[i]);
  return result;
}

static Tensor evaluate(SelectOp op, Operands in) {
  Tensor result = emptyResult(op);
  for (int64_t i = 0, e = result.size(); i < e; ++i)
    result.copy(i, in[0]->ints[i] ? *in[1] : *in[2], i);
  return result;
}

static Tensor evaluate(ConvertOp op, Operands in) {
  Tensor result = emptyResult(op);
  for (int64_t i = 0, e = result.size(); i < e; ++i) {
    if (result.element().isInteger(1))
      result.ints[i] =
          in[0]->isFloat() ? in[0]->floats[i] != 0 : in[0]->ints[i] != 0;
    else if (in[0]->isFloat() && result.isFloat())
      result.set(i, in[0]->floats[i]);
    else
      result.setInt(i, in[0]->getInt(i));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static Tensor evaluate(ConstantOp op, Operands) {
  FailureOr<Tensor> value = fromElements(op.getValue());
  return succeeded(value) ? *value : Tensor();
}

static Tensor evaluate(IotaOp op, Operands in) {
  Tensor result = emptyResult(op);
  int64_t offset = in.empty() ? 0 : in[0]->ints[0];
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    result.setInt(i, index[op.getDim()] + offset);
  });
  return result;
}

void addElementwise(EvaluateTable &table) {
  table.add([](auto op, Operands in) -> decltype(evaluate(op, in)) {
    return evaluate(op, in);
  });
}

} // namespace autopar::interpreter
