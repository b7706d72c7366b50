//===- PeakMemory.h - Memory of a function to be scheduled ------*- C++ -*-===//

#ifndef AUTOPAR_COST_PEAKMEMORY_H
#define AUTOPAR_COST_PEAKMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

struct PeakMemory {
  int64_t arenaBytes = 0;
  /// Parameters and setup values among arguments and results, each once.
  int64_t persistentBytes = 0;
};

/// What one device needs for `func`, as Schedule will place it: same groups,
/// same order, same arena.
PeakMemory peakMemory(mlir::func::FuncOp func);

} // namespace autopar

#endif // AUTOPAR_COST_PEAKMEMORY_H
