//===- Tensor.cpp - Values of the reference interpreter -------------------===//

#include "autopar/Dialect/Interpreter/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace autopar::interpreter {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static APFloat toAPFloat(Type type, double value) {
  APFloat result(value);
  bool losesInfo;
  result.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return result;
}

static double toDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

double roundTo(Type type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  return toDouble(toAPFloat(type, value));
}

int64_t wrapTo(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width >= 64)
    return value;
  uint64_t low = uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
  if (width == 1 || type.isUnsignedInteger())
    return low;
  return llvm::SignExtend64(low, width);
}

/// The nearest integer of `type` towards zero; NaN becomes 0.
static int64_t saturate(Type type, double value) {
  unsigned width = std::min(type.getIntOrFloatBitWidth(), 64u);
  bool isUnsigned = width == 1 || type.isUnsignedInteger();
  if (std::isnan(value))
    return 0;
  int64_t low = isUnsigned ? 0 : llvm::minIntN(width);
  int64_t high = isUnsigned && width < 64 ? int64_t(llvm::maxUIntN(width))
                                          : llvm::maxIntN(width);
  if (value <= double(low))
    return low;
  return value >= double(high) ? high : int64_t(value);
}

double combine(ReduceKind kind, double a, double b) {
  if (kind == ReduceKind::Sum)
    return a + b;
  if (kind == ReduceKind::Prod)
    return a * b;
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return kind == ReduceKind::Max ? std::max(a, b) : std::min(a, b);
}

int64_t combine(ReduceKind kind, int64_t a, int64_t b) {
  switch (kind) {
  case ReduceKind::Sum:
    return uint64_t(a) + uint64_t(b);
  case ReduceKind::Prod:
    return uint64_t(a) * uint64_t(b);
  case ReduceKind::Max:
    return std::max(a, b);
  case ReduceKind::Min:
    return std::min(a, b);
  }
  llvm_unreachable("all kinds are listed");
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

Tensor::Tensor(RankedTensorType type) : type(type) {
  if (isFloat())
    floats.resize(type.getNumElements());
  else
    ints.resize(type.getNumElements());
}

int64_t Tensor::getInt(int64_t i) const {
  if (!isFloat())
    return ints[i];
  constexpr double limit = 9223372036854775808.0;
  double value = floats[i];
  return value > -limit && value < limit ? int64_t(value) : 0;
}

void Tensor::set(int64_t i, double value) {
  if (isFloat())
    floats[i] = roundTo(element(), value);
  else
    ints[i] = saturate(element(), value);
}

void Tensor::setInt(int64_t i, int64_t value) {
  if (isFloat())
    floats[i] = roundTo(element(), double(value));
  else
    ints[i] = wrapTo(element(), value);
}

void Tensor::copy(int64_t i, const Tensor &other, int64_t j) {
  if (isFloat())
    floats[i] = other.floats[j];
  else
    ints[i] = other.ints[j];
}

void Tensor::fill(double value) {
  for (int64_t i = 0, e = size(); i < e; ++i)
    set(i, value);
}

void Tensor::setGarbage(int64_t i) {
  if (isFloat())
    floats[i] = std::numeric_limits<double>::quiet_NaN();
  else
    ints[i] = wrapTo(element(), 0x5a5a5a5a5a5a5a5b);
}

void Tensor::fillGarbage() {
  for (int64_t i = 0, e = size(); i < e; ++i)
    setGarbage(i);
}

Tensor reduceTensors(ReduceKind kind, ArrayRef<const Tensor *> parts) {
  Tensor result = *parts.front();
  for (const Tensor *part : parts.drop_front())
    for (int64_t i = 0, e = result.size(); i < e; ++i) {
      if (result.isFloat())
        result.set(i, combine(kind, result.floats[i], part->floats[i]));
      else
        result.setInt(i, combine(kind, result.ints[i], part->ints[i]));
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Attributes and text
//===----------------------------------------------------------------------===//

FailureOr<Tensor> fromElements(ElementsAttr elements) {
  auto type = dyn_cast<RankedTensorType>(elements.getShapedType());
  if (!type)
    return failure();
  Tensor tensor(type);
  int64_t i = 0;
  if (tensor.isFloat()) {
    auto values = elements.tryGetValues<APFloat>();
    if (!values)
      return failure();
    for (const APFloat &value : *values)
      tensor.floats[i++] = toDouble(value);
    return tensor;
  }
  auto values = elements.tryGetValues<APInt>();
  if (!values)
    return failure();
  for (const APInt &value : *values)
    tensor.setInt(i++, value.getZExtValue());
  return tensor;
}

DenseElementsAttr toElements(const Tensor &tensor) {
  SmallVector<APFloat> floats;
  SmallVector<APInt> ints;
  if (tensor.isFloat()) {
    for (double value : tensor.floats)
      floats.push_back(toAPFloat(tensor.element(), value));
    return DenseElementsAttr::get(tensor.type, floats);
  }
  for (int64_t value : tensor.ints)
    ints.push_back(APInt(tensor.element().getIntOrFloatBitWidth(), value,
                         /*isSigned=*/false, /*implicitTrunc=*/true));
  return DenseElementsAttr::get(tensor.type, ints);
}

/// The splitmix64 generator's output function.
static uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Tensor randomTensor(RankedTensorType type, StringRef name, uint64_t seed) {
  Tensor tensor(type);
  uint64_t base = scramble(seed ^ llvm::xxh3_64bits(name));
  for (int64_t i = 0, e = tensor.size(); i < e; ++i) {
    uint64_t bits = scramble(base + i);
    if (tensor.isFloat())
      tensor.set(i, double(bits >> 11) / double(1ull << 52) - 1);
    else
      tensor.setInt(i, bits >> 61);
  }
  return tensor;
}

std::optional<Difference> compare(const Tensor &expected, const Tensor &actual,
                                  double tolerance, double scale) {
  int64_t count = expected.size();
  double squares = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::isfinite(expected.getDouble(i))) {
      squares += expected.getDouble(i) * expected.getDouble(i);
      ++finite;
    }
  scale = std::max(scale, finite ? std::sqrt(squares / finite) : 0);
  if (!expected.isFloat())
    tolerance = 0;
  std::optional<Difference> worst;
  double worstExcess = 0;
  for (int64_t i = 0; i < count; ++i) {
    double a = expected.getDouble(i), b = actual.getDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double excess = std::abs(a - b) - tolerance * (scale + std::abs(a));
    if (excess <= 0)
      continue;
    if (worst && !(excess > worstExcess) && !std::isnan(excess))
      continue;
    worst = Difference{i, a, b};
    worstExcess =
        std::isnan(excess) ? std::numeric_limits<double>::infinity() : excess;
  }
  return worst;
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void storeElement(const Tensor &tensor, int64_t i, uint8_t *bytes) {
  uint64_t bits = tensor.isFloat()
                      ? toAPFloat(tensor.element(), tensor.floats[i])
                            .bitcastToAPInt()
                            .getZExtValue()
                      : uint64_t(tensor.ints[i]);
  for (int64_t b = 0, e = elementBytes(tensor.element()); b < e; ++b)
    bytes[b] = bits >> (8 * b);
}

void loadElement(Tensor &tensor, int64_t i, const uint8_t *bytes) {
  uint64_t bits = 0;
  for (int64_t b = 0, e = elementBytes(tensor.element()); b < e; ++b)
    bits |= uint64_t(bytes[b]) << (8 * b);
  if (!tensor.isFloat())
    return tensor.setInt(i, bits);
  auto type = cast<FloatType>(tensor.element());
  tensor.floats[i] =
      toDouble(APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits)));
}

Tensor filledTensor(RankedTensorType type, Attribute number) {
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (auto real = dyn_cast<FloatAttr>(number))
      tensor.set(i, real.getValueAsDouble());
    else
      tensor.setInt(i, cast<IntegerAttr>(number).getInt());
  }
  return tensor;
}

} // namespace autopar::interpreter
