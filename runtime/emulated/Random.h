//===- Random.h - The emulated GPU's seeded choices -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_RANDOM_H
#define AUTOPAR_RUNTIME_EMULATED_RANDOM_H

#include <cstdint>
#include <numeric>

namespace autopar::runtime::emulated {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed = 0) : state(seed) {}

  uint64_t next() {
    uint64_t value = state += 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
  }
  /// One of [0, bound); bound > 0.
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

/// An order of [0, count): forward, backward, or in strides.
class Permutation {
public:
  Permutation(uint64_t count, Random &random) : count(count) {
    uint64_t kind = random.below(4);
    if (count < 2 || kind == 0)
      return; // forward
    stride = kind == 1 ? count - 1 : 1 + random.below(count - 1);
    while (std::gcd(stride, count) != 1)
      stride = stride % (count - 1) + 1;
    position = random.below(count);
  }
  /// Call it `count` times; then it begins again.
  uint64_t next() {
    uint64_t result = position;
    position += stride;
    if (position >= count)
      position -= count;
    return result;
  }

private:
  uint64_t count, stride = 1, position = 0;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_RANDOM_H
