//===- Reduce.cpp - Elementwise reduction over members --------------------===//

#include "Reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
// The best code of the host is chosen at load.
#define APRT_VECTOR_CLONES                                                     \
  __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define APRT_VECTOR_CLONES
#endif

namespace autopar::runtime {

namespace {

// Integers wrap around like the reference interpreter's.
template <typename T> T wrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) + uint64_t(b));
  else
    return a + b;
}
template <typename T> T wrappingMultiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) * uint64_t(b));
  else
    return a * b;
}

struct Sum {
  template <typename T> static T apply(T a, T b) { return wrappingAdd(a, b); }
};
struct Product {
  template <typename T> static T apply(T a, T b) {
    return wrappingMultiply(a, b);
  }
};
// A NaN wins, as in ONNX.
struct Maximum {
  template <typename T> static T apply(T a, T b) {
    return (a > b || a != a) ? a : b;
  }
};
struct Minimum {
  template <typename T> static T apply(T a, T b) {
    return (a < b || a != a) ? a : b;
  }
};

/// The case that matters: two members, summed.
APRT_VECTOR_CLONES void sumTwo(const float *a, const float *b, float *out,
                               int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = a[i] + b[i];
}

APRT_VECTOR_CLONES void addInto(float *accumulator, const float *a,
                                int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    accumulator[i] += a[i];
}

/// Blocks keep the accumulator in the nearest cache.
constexpr int64_t blockElements = 1024;

template <typename Op, typename T>
void reduceBlock(const void *const *inputs, int members, int64_t begin,
                 int64_t count, T *out) {
  using Compute = typename Element<T>::Compute;
  Compute accumulator[blockElements];
  const T *first = static_cast<const T *>(inputs[0]) + begin;
  for (int64_t i = 0; i < count; ++i)
    accumulator[i] = Element<T>::load(first[i]);
  for (int m = 1; m < members; ++m) {
    const T *next = static_cast<const T *>(inputs[m]) + begin;
    for (int64_t i = 0; i < count; ++i)
      accumulator[i] = Op::apply(accumulator[i], Element<T>::load(next[i]));
  }
  for (int64_t i = 0; i < count; ++i)
    out[begin + i] = Element<T>::store(accumulator[i]);
}

template <typename Op, typename T>
void reduceAll(const void *const *inputs, int members, int64_t count, T *out) {
  for (int64_t begin = 0; begin < count; begin += blockElements)
    reduceBlock<Op, T>(inputs, members, begin,
                       std::min(blockElements, count - begin), out);
}

void sumFloats(const void *const *inputs, int members, int64_t count,
               float *out) {
  float accumulator[blockElements];
  auto at = [&](int m) { return static_cast<const float *>(inputs[m]); };
  for (int64_t begin = 0; begin < count; begin += blockElements) {
    int64_t length = std::min(blockElements, count - begin);
    float *to = members == 2 ? out + begin : accumulator;
    sumTwo(at(0) + begin, at(1) + begin, to, length);
    for (int m = 2; m < members; ++m)
      addInto(accumulator, at(m) + begin, length);
    if (members > 2)
      std::memcpy(out + begin, accumulator, size_t(length) * sizeof(float));
  }
}

} // namespace

void reduceMembers(aprt_reduce kind, aprt_dtype dtype, int64_t count,
                   const void *const *inputs, int members, void *out) {
  if (kind == APRT_SUM && dtype == APRT_F32 && members >= 2)
    return sumFloats(inputs, members, count, static_cast<float *>(out));
  visitDtype(dtype, [&](auto example) {
    using T = decltype(example);
    T *to = static_cast<T *>(out);
    switch (kind) {
    case APRT_SUM:
      return reduceAll<Sum, T>(inputs, members, count, to);
    case APRT_PROD:
      return reduceAll<Product, T>(inputs, members, count, to);
    case APRT_MAX:
      return reduceAll<Maximum, T>(inputs, members, count, to);
    case APRT_MIN:
      return reduceAll<Minimum, T>(inputs, members, count, to);
    }
  });
}

void fillElements(aprt_dtype dtype, int64_t count, double value, void *out) {
  visitDtype(dtype, [&](auto example) {
    using T = decltype(example);
    using Compute = typename Element<T>::Compute;
    Compute converted;
    if constexpr (std::is_integral_v<Compute>)
      // Saturate: infinities stand for the smallest and largest value.
      converted = value <= double(std::numeric_limits<Compute>::min())
                      ? std::numeric_limits<Compute>::min()
                  : value >= double(std::numeric_limits<Compute>::max())
                      ? std::numeric_limits<Compute>::max()
                      : Compute(std::isnan(value) ? 0 : value);
    else
      converted = Compute(value);
    std::fill_n(static_cast<T *>(out), count, Element<T>::store(converted));
  });
}

} // namespace autopar::runtime
