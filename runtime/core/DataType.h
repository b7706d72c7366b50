//===- DataType.h - Element types and checked sizes -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_DATATYPE_H
#define AUTOPAR_RUNTIME_CORE_DATATYPE_H

#include "autopar/runtime.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::runtime {

/// Returns the bytes of one element, or 0 for a number that is not an
/// aprt_dtype.
int64_t elementBytes(int64_t dtype);

/// Returns a name such as "f32", or "?" for a number that is not an aprt_dtype.
const char *dtypeName(int64_t dtype);

/// Parses a name such as "f32". Returns false for an unknown name.
bool parseDtype(std::string_view name, aprt_dtype &dtype);

/// Computes product = a * b. Returns false on overflow or a negative factor.
bool checkedMultiply(int64_t a, int64_t b, int64_t &product);

/// Computes the bytes of a dense tensor. Returns false on overflow or a
/// negative dimension.
bool tensorBytes(aprt_dtype dtype, const std::vector<int64_t> &shape,
                 int64_t &bytes);

/// Returns a text for messages such as "f32[2,3]".
std::string describeTensor(aprt_dtype dtype, const std::vector<int64_t> &shape);

/// Storage types without arithmetic of their own.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

/// Converts without branches, so that loops over it are vectorized.
inline float toFloat(Float16 value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  uint32_t bits = uint32_t(value.bits & 0x7fff) << 13;
  uint32_t special = bits >= 0x0f800000u ? 0x7f800000u : 0; // infinity or NaN
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  result *= 0x1p112f; // another bias of the exponent; exact
  std::memcpy(&bits, &result, sizeof(result));
  bits |= sign | special;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}
Float16 toFloat16(float value);

inline float toFloat(BFloat16 value) {
  uint32_t bits = uint32_t(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// Rounds to nearest even; a NaN stays a NaN.
inline BFloat16 toBFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return {uint16_t((bits >> 16) | 0x40)};
  return {uint16_t((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16)};
}

/// Defines the type in which elements of T are computed, which is float for
/// 16-bit floats.
template <typename T> struct Element {
  using Compute = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
template <> struct Element<Float16> {
  using Compute = float;
  static float load(Float16 value) { return toFloat(value); }
  static Float16 store(float value) { return toFloat16(value); }
};
template <> struct Element<BFloat16> {
  using Compute = float;
  static float load(BFloat16 value) { return toFloat(value); }
  static BFloat16 store(float value) { return toBFloat16(value); }
};

/// Calls `visitor` with a value of the C++ type of `dtype`. Returns false for a
/// number that is not an aprt_dtype.
template <typename Visitor> bool visitDtype(int64_t dtype, Visitor &&visitor) {
  switch (dtype) {
  case APRT_BOOL:
  case APRT_U8:
    return visitor(uint8_t()), true;
  case APRT_I8:
    return visitor(int8_t()), true;
  case APRT_I16:
    return visitor(int16_t()), true;
  case APRT_U16:
    return visitor(uint16_t()), true;
  case APRT_I32:
    return visitor(int32_t()), true;
  case APRT_U32:
    return visitor(uint32_t()), true;
  case APRT_I64:
    return visitor(int64_t()), true;
  case APRT_U64:
    return visitor(uint64_t()), true;
  case APRT_F16:
    return visitor(Float16()), true;
  case APRT_BF16:
    return visitor(BFloat16()), true;
  case APRT_F32:
    return visitor(float()), true;
  case APRT_F64:
    return visitor(double()), true;
  }
  return false;
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_DATATYPE_H
