//===- GridPlan.h - Which thread does what ----------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_GRIDPLAN_H
#define AUTOPAR_LIB_LOWERING_GPU_GRIDPLAN_H

#include "GridEmitter.h"

namespace autopar::gpu {

/// The way in which the iterations of a kernel are shared out over a grid.
struct GridPlan {
  enum Mapping {
    /// Threads take consecutive elements; folds are one thread's.
    Flat,
    /// Threads share rows.
    Rows,
    /// Blocks take tiles that cross the contiguous dimension.
    Tiles,
  };
  Mapping mapping = Flat;
  int64_t space = 1;
  /// The space's digits, from the outermost; Rows: those that number rows.
  llvm::SmallVector<Part> parts;
  /// Rows: the digits within a row, and its elements.
  llvm::SmallVector<Part> inside;
  int64_t rowCount = 1, length = 1;
  RowGroup group;
  /// Flat: consecutive elements of a thread at once, how many times, threads.
  int64_t vector = 1, times = 1, threads = 256;
  /// Tiles: the stride of the part that reads are contiguous along.
  int64_t across = 0;
  /// Outputs are stored over inputs: no thread may read what another one writes
  /// but for folds, which end before.
  bool inPlace = false;

  /// Makes it a plan that needs less shared memory, in the end none.
  void shareLess();

  int64_t blocks() const;
  int64_t threadCount() const;
};

/// The plan for what a trial emission over the flat space found out.
/// `alignedVector`: the most consecutive elements that one access can take.
GridPlan planGrid(KernelOp kernel, const loops::Findings &findings,
                  int64_t alignedVector);

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_GRIDPLAN_H
