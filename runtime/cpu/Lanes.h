//===- Lanes.h - Vectors of sums for any element type -----------*- C++ -*-===//
//
// Generic vectors of 64 bytes: the compiler makes of them what the function's
// target has. All is inlined into functions for one target, so nothing here is
// a call.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_LANES_H
#define AUTOPAR_RUNTIME_CPU_LANES_H

#include "../core/DataType.h"

#include <type_traits>

namespace autopar::runtime {

inline constexpr int64_t vectorBytes = 64;

/// What sums of products of T are computed in: 16-bit floats in float, integers
/// modulo 2^n.
template <typename T> struct SumType {
  using Compute = typename Element<T>::Compute;
  using type = typename std::conditional_t<std::is_integral_v<Compute>,
                                           std::make_unsigned<Compute>,
                                           std::common_type<Compute>>::type;
};
template <typename T> using SumOf = typename SumType<T>::type;

/// As many sums as a vector holds, loaded from elements of type T.
template <typename T> struct Lanes {
  using Sum = SumOf<T>;
  static constexpr int64_t count = vectorBytes / int64_t(sizeof(Sum));
  typedef Sum Vector __attribute__((vector_size(vectorBytes)));

  [[gnu::always_inline]] static inline void load(const T *from, Vector &to) {
    if constexpr (sizeof(T) == sizeof(Sum)) {
      std::memcpy(&to, from, sizeof(to));
    } else {
      typedef uint16_t Halves __attribute__((vector_size(vectorBytes / 2)));
      typedef uint32_t Words __attribute__((vector_size(vectorBytes)));
      Halves halves;
      std::memcpy(&halves, from, sizeof(halves));
      Words words = __builtin_convertvector(halves, Words);
      if constexpr (std::is_same_v<T, BFloat16>)
        words <<= 16;
      else
        widenHalf(words);
      std::memcpy(&to, &words, sizeof(to));
    }
  }

  /// The sum of the lanes: halves are added until one lane is left.
  [[gnu::always_inline]] static inline Sum add(const Vector &vector) {
    return addHalves<vectorBytes>(&vector);
  }

private:
  template <int64_t bytes>
  [[gnu::always_inline]] static inline Sum addHalves(const void *lanes) {
    if constexpr (bytes == sizeof(Sum)) {
      Sum sum;
      std::memcpy(&sum, lanes, sizeof(sum));
      return sum;
    } else {
      typedef Sum Half __attribute__((vector_size(bytes / 2)));
      Half low, high;
      std::memcpy(&low, lanes, sizeof(low));
      std::memcpy(&high, static_cast<const char *>(lanes) + bytes / 2,
                  sizeof(high));
      low += high;
      return addHalves<bytes / 2>(&low);
    }
  }

  /// From the bits of 16-bit floats to those of the same floats.
  template <typename Words>
  [[gnu::always_inline]] static inline void widenHalf(Words &words) {
    typedef float Floats __attribute__((vector_size(vectorBytes)));
    Words sign = (words & 0x8000u) << 16, magnitude = (words & 0x7fffu) << 13;
    Words special = Words(magnitude >= 0x0f800000u) & 0x7f800000u;
    Floats value;
    std::memcpy(&value, &magnitude, sizeof(value));
    value *= 0x1p112f; // another bias of the exponent; exact
    std::memcpy(&words, &value, sizeof(value));
    words |= sign | special;
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_LANES_H
