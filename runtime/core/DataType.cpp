//===- DataType.cpp - Element types and checked sizes ---------------------===//

#include "DataType.h"

namespace autopar::runtime {

namespace {
struct DtypeRow {
  const char *name;
  int64_t bytes;
};
constexpr DtypeRow dtypeTable[] = {
#define APRT_ELEMENT(dtype, number, text, bytes) {text, bytes},
#include "autopar/runtime.def"
};
#define APRT_ELEMENT(dtype, number, text, bytes)                               \
  static_assert(dtypeTable[dtype].name == std::string_view(text));
#include "autopar/runtime.def"
constexpr int64_t dtypeCount = sizeof(dtypeTable) / sizeof(dtypeTable[0]);
} // namespace

int64_t elementBytes(int64_t dtype) {
  return dtype >= 0 && dtype < dtypeCount ? dtypeTable[dtype].bytes : 0;
}

const char *dtypeName(int64_t dtype) {
  return dtype >= 0 && dtype < dtypeCount ? dtypeTable[dtype].name : "?";
}

bool parseDtype(std::string_view name, aprt_dtype &dtype) {
  for (int64_t i = 0; i < dtypeCount; ++i) {
    if (name != dtypeTable[i].name)
      continue;
    dtype = aprt_dtype(i);
    return true;
  }
  return false;
}

bool checkedMultiply(int64_t a, int64_t b, int64_t &product) {
  return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &product);
}

bool tensorBytes(aprt_dtype dtype, const std::vector<int64_t> &shape,
                 int64_t &bytes) {
  // Zero-sized tensors must not hide an overflow of the other dimensions.
  bytes = elementBytes(dtype);
  bool empty = false;
  for (int64_t size : shape) {
    empty |= size == 0;
    if (!checkedMultiply(bytes, size == 0 ? 1 : size, bytes))
      return false;
  }
  if (empty)
    bytes = 0;
  return true;
}

std::string describeTensor(aprt_dtype dtype,
                           const std::vector<int64_t> &shape) {
  std::string text = dtypeName(dtype);
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + ']';
}

Float16 toFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return {uint16_t(sign | 0x7e00)};
  if (magnitude >= 0x477ff000u) // rounds to infinity
    return {uint16_t(sign | 0x7c00)};
  if (magnitude < 0x38800000u) {
    // Subnormal: adding 0.5 lets the hardware round to units of 2^-24.
    float shifted;
    std::memcpy(&shifted, &magnitude, sizeof(shifted));
    shifted += 0.5f;
    uint32_t rounded;
    std::memcpy(&rounded, &shifted, sizeof(rounded));
    return {uint16_t(sign | (rounded - 0x3f000000u))};
  }
  uint32_t rounded = magnitude - (112u << 23) + 0xfffu + ((bits >> 13) & 1);
  return {uint16_t(sign | (rounded >> 13))};
}

} // namespace autopar::runtime
