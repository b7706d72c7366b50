//===- Random.h - The same random numbers on every host ---------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_RANDOM_H
#define AUTOPAR_TEST_PROPERTY_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace autopar::property {

/// The splitmix64 generator.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  /// In [0, count).
  int64_t below(int64_t count) { return next() % uint64_t(count); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> const T &pick(llvm::ArrayRef<T> list) {
    return list[below(list.size())];
  }
  template <typename Range> void shuffle(Range &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[below(i)]);
  }

private:
  uint64_t state;
};

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_RANDOM_H
