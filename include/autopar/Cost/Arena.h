//===- Arena.h - Static offsets for buffers with lifetimes ------*- C++ -*-===//

#ifndef AUTOPAR_COST_ARENA_H
#define AUTOPAR_COST_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace autopar {

inline constexpr int64_t kArenaAlignment = 64;

/// A buffer of so many bytes that is needed at the times first, ..., last.
struct ArenaRequest {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets; // one per request, multiples of the alignment
  int64_t bytes = 0;            // of the arena
};

/// Chooses offsets so that no two requests that are needed at one time overlap.
/// It places the largest request first, and each into the smallest gap that it
/// fits (greedy by size, best fit).
ArenaPlan planArena(llvm::ArrayRef<ArenaRequest> requests);

/// The most bytes that are needed at one time, each request rounded up to the
/// alignment. No arena can be smaller.
int64_t arenaLowerBound(llvm::ArrayRef<ArenaRequest> requests);

} // namespace autopar

#endif // AUTOPAR_COST_ARENA_H
