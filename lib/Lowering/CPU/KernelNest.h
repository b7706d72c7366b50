//===- KernelNest.h - The loops of one kernel -------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_CPU_KERNELNEST_H
#define AUTOPAR_LIB_LOWERING_CPU_KERNELNEST_H

#include "StackEmitter.h"

namespace autopar::cpu {

/// The side of square tiles, in elements: a line of the cache of 4 bytes each.
inline constexpr int64_t kTileSide = 16;

/// Loops over the iteration space, from the outermost to the innermost.
struct Nest {
  llvm::SmallVector<Part> parts; // value filled in when emitted
  /// The length of blocks for each part: a loop over the blocks is in the
  /// part's place, and a loop over the block inside all other loops. 0: one
  /// loop. A last block that does not fit moves back and computes some elements
  /// again.
  llvm::SmallVector<int64_t> blocks;
  unsigned parallel = 0; // leading parts that the launch range covers
  int64_t work = 1, inner = 1;

  /// Iterations of the part's outer loop.
  int64_t trips(unsigned part) const {
    int64_t block = blocks[part] ? blocks[part] : 1;
    return (parts[part].size + block - 1) / block;
  }
};

/// A nest of one loop over `space`.
Nest flatNest(int64_t space);

/// The nest for what a first emission over the flat nest found out.
Nest nestOf(KernelOp kernel, const loops::Findings &findings);

/// Element evaluations per element of the space, for the grain.
int64_t costOf(KernelOp kernel, int64_t space);

} // namespace autopar::cpu

#endif // AUTOPAR_LIB_LOWERING_CPU_KERNELNEST_H
