//===- BitMap.h - One bit per byte of device memory -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_BITMAP_H
#define AUTOPAR_RUNTIME_EMULATED_BITMAP_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace autopar::runtime::emulated {

/// Which bytes of an allocation are initialised.
class BitMap {
public:
  explicit BitMap(size_t bits = 0) : words(bits / 64 + 2) {}

  /// The first bit of [begin, end) that is 0; `end` if there is none.
  size_t firstUnset(size_t begin, size_t end) const {
    while (begin < end) {
      uint64_t missing = ~words[begin / 64] >> (begin % 64);
      if (missing)
        return std::min(end, begin + size_t(__builtin_ctzll(missing)));
      begin += 64 - begin % 64;
    }
    return end;
  }

  void set(size_t begin, size_t end, bool value) {
    while (begin < end) {
      size_t count = std::min(end - begin, 64 - begin % 64);
      uint64_t mask = maskOf(count) << (begin % 64);
      uint64_t &word = words[begin / 64];
      word = value ? word | mask : word & ~mask;
      begin += count;
    }
  }

  /// Up to 64 bits from `begin`, the first one lowest.
  uint64_t bits(size_t begin, size_t count) const {
    size_t shift = begin % 64;
    uint64_t low = words[begin / 64] >> shift;
    if (shift + count > 64)
      low |= words[begin / 64 + 1] << (64 - shift);
    return low & maskOf(count);
  }

  /// Sets bits [to, to + count) to `from`'s [begin, begin + count).
  void copy(size_t to, const BitMap &from, size_t begin, size_t count) {
    while (count) {
      size_t part = std::min(count, 64 - to % 64);
      uint64_t mask = maskOf(part) << (to % 64);
      uint64_t &word = words[to / 64];
      word = (word & ~mask) | (from.bits(begin, part) << (to % 64));
      to += part;
      begin += part;
      count -= part;
    }
  }

private:
  static uint64_t maskOf(size_t count) {
    return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
  }

  std::vector<uint64_t> words; // and one more, so that bits() may read past
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_BITMAP_H
