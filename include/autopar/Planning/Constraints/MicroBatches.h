//===- MicroBatches.h - The batch split over time -------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_MICROBATCHES_H
#define AUTOPAR_PLANNING_CONSTRAINTS_MICROBATCHES_H

#include "autopar/Planning/Constraints/Demands.h"

namespace autopar {

/// Returns what each op does along the time axis so that the step runs in
/// micro-batches: ops that carry the batch split it, except for values that an
/// op needs from all micro-batches at once. Returns an error if no op can split
/// the batch.
llvm::Expected<std::vector<AxisDemand>>
microBatchDemands(const ModelGraph &graph, int64_t microBatches);

/// Returns the numbers of micro-batches to try for `stages`, or `pinned` alone
/// unless it is 0. An error lists the divisors of the batch.
llvm::Expected<llvm::SmallVector<int64_t>>
microBatchCounts(const ModelGraph &graph, int64_t stages, int64_t pinned);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_MICROBATCHES_H
