//===- Repeats.h - Adjacent repetitions in a sequence -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_REPEATS_H
#define AUTOPAR_LIB_LOWERING_COMMON_REPEATS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace autopar {

/// tokens[begin, begin + period * count) is `count` times the same `period`
/// tokens.
struct Repeat {
  size_t begin, period, count;
  size_t saved() const { return period * (count - 1); }
  /// The calls that it saves, less those that it leaves. So among repeats that
  /// contain each other the most frequent one is found.
  int64_t gain() const { return int64_t(saved()) - int64_t(period); }
  size_t end() const { return begin + period * count; }
};

/// Disjoint repeats in order; those that gain most are taken first, and none
/// that saves fewer than `least` tokens. O(n log n).
std::vector<Repeat> findRepeats(llvm::ArrayRef<unsigned> tokens, size_t least);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_REPEATS_H
