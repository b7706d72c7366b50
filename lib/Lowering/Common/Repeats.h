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
  size_t end() const { return begin + period * count; }
};

/// Disjoint repeats in order; those that save most tokens are taken first, and
/// none that saves fewer than `least`. O(n log n).
std::vector<Repeat> findRepeats(llvm::ArrayRef<unsigned> tokens, size_t least);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_REPEATS_H
