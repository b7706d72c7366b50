//===- MicroBatches.h - The batch split over time -------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_MICROBATCHES_H
#define AUTOPAR_PLANNING_CONSTRAINTS_MICROBATCHES_H

#include "autopar/Planning/Constraints/Demands.h"

namespace autopar {

/// What each op does along the time axis so that the step runs in
/// micro-batches: what carries the batch splits it, but for what an op needs of
/// all micro-batches at once. An error where that is everything.
llvm::Expected<std::vector<AxisDemand>>
microBatchDemands(const ModelGraph &graph, int64_t microBatches);

/// Numbers of micro-batches to try for so many stages; `pinned` alone unless 0.
/// An error lists the batch's divisors.
llvm::Expected<llvm::SmallVector<int64_t>>
microBatchCounts(const ModelGraph &graph, int64_t stages, int64_t pinned);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_MICROBATCHES_H
