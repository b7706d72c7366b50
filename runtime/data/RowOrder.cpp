//===- RowOrder.cpp - In which order an epoch has its rows ----------------===//

#include "RowOrder.h"

#include <algorithm>

namespace autopar::runtime {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014, figure 16).
static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// Small numbers of rows are permuted among 256, too: a network of a few bits
/// has few permutations.
RowOrder::RowOrder(int64_t rows, std::optional<uint64_t> seed, int64_t epoch)
    : rows(rows), isShuffled(seed.has_value()), halfBits(4) {
  while (halfBits < 31 && (int64_t(1) << (2 * halfBits)) < rows)
    ++halfBits;
  uint64_t key = mix(mix(seed.value_or(0) + 0x9e3779b97f4a7c15u) +
                     uint64_t(epoch) * 0x9e3779b97f4a7c15u);
  for (uint64_t &round : keys)
    round = key = mix(key + 0x9e3779b97f4a7c15u);
}

uint64_t RowOrder::permute(uint64_t value) const {
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (uint64_t key : keys) {
    uint64_t next = left ^ (mix(right + key) & mask);
    left = right;
    right = next;
  }
  return left << halfBits | right;
}

int64_t RowOrder::at(int64_t place) const {
  if (!isShuffled)
    return place;
  auto value = uint64_t(place);
  do
    value = permute(value);
  while (value >= uint64_t(rows));
  return int64_t(value);
}

StepRows StepSchedule::at(int64_t step) const {
  int64_t inFirst = stepsOf(rows - first);
  auto from = [&](int64_t epoch, int64_t first) -> StepRows {
    return {epoch, first, std::min(batch, rows - first)};
  };
  if (step < inFirst)
    return from(epoch, first + step * batch);
  int64_t later = step - inFirst, inEpoch = stepsOf(rows);
  return from(epoch + 1 + later / inEpoch, later % inEpoch * batch);
}

} // namespace autopar::runtime
