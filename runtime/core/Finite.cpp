//===- Finite.cpp - Numbers that are not finite ---------------------------===//

#include "Finite.h"

#include "autopar/runtime.h"

#include <algorithm>

namespace autopar::runtime {

/// Tests a block of elements at a time by their bits, so that the inner loop
/// has neither branch nor comparison: a magnitude of infinity or NaN becomes
/// the sign bit, or more, if what lies between both is added.
template <typename Bits>
static bool hasNotFinite(const void *data, int64_t bytes, Bits infinity) {
  constexpr int64_t block = 4096;
  constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1)),
                 magnitude = Bits(sign - 1);
  const Bits between = Bits(sign - infinity);
  auto *at = static_cast<const Bits *>(data);
  const Bits *last = at + bytes / int64_t(sizeof(Bits));
  for (const Bits *end = at; at != last; at = end) {
    end = at + std::min<int64_t>(block, last - at);
    Bits found = 0;
    for (const Bits *one = at; one != end; ++one)
      found |= Bits((*one & magnitude) + between);
    if ((found & sign) && std::any_of(at, end, [&](Bits bits) {
          return bits == infinity || (bits & magnitude) > infinity;
        }))
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
