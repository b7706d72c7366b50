//===- Finite.cpp - Numbers that are not finite ---------------------------===//

#include "Finite.h"

#include "autopar/runtime.h"

#include <algorithm>

namespace autopar::runtime {

/// Compares the bits of the elements with those of positive infinity, a block
/// of elements at a time, so that the inner loop has no branch.
template <typename Bits>
static bool hasNotFinite(const void *data, int64_t bytes, Bits infinity) {
  constexpr int64_t block = 4096;
  constexpr Bits magnitude = Bits(~Bits(0)) >> 1; // all bits but the sign
  auto *at = static_cast<const Bits *>(data);
  int64_t count = bytes / int64_t(sizeof(Bits));
  for (int64_t begin = 0; begin < count; begin += block) {
    Bits found = 0;
    for (int64_t i = begin, end = std::min(count, begin + block); i < end; ++i)
      found |= Bits((at[i] & magnitude) > infinity) | Bits(at[i] == infinity);
    if (found)
      return true;
  }
  return false;
}

bool hasNotFinite(int64_t dtype, const void *data, int64_t bytes) {
  switch (dtype) {
  case APRT_F16:
    return hasNotFinite<uint16_t>(data, bytes, 0x7c00);
  case APRT_BF16:
    return hasNotFinite<uint16_t>(data, bytes, 0x7f80);
  case APRT_F32:
    return hasNotFinite<uint32_t>(data, bytes, 0x7f800000);
  case APRT_F64:
    return hasNotFinite<uint64_t>(data, bytes, 0x7ff0000000000000);
  }
  return false;
}

} // namespace autopar::runtime
