//===- Stages.h - A graph cut into pipeline stages --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_STAGES_H
#define AUTOPAR_LIB_PLANNING_STAGES_H

#include "autopar/Planning/Constraints.h"
#include "autopar/Planning/Demands.h"
#include "autopar/Planning/Plan.h"

namespace autopar {

/// Per kind of place of stages (StagePlaces) the seconds of each op, once.
using SecondsAtPlaces = llvm::ArrayRef<std::vector<double>>;

/// Cuts the ops of @step, in program order, into plan.stages runs of ops, by a
/// dynamic program over their seconds (in one micro-batch), what crosses each
/// cut, and the parameters of each stage. Ops that `limits` pins to a
/// stage, and what depends on them, come later in that order. Fills in stages
/// and predictions of `plan`: of the cuts that promise most, the fastest that
/// fits, or else that exceeds the memory the least. memoryLimit 0: what the
/// devices of each stage have.
llvm::Error cutStages(const ModelGraph &graph, SecondsAtPlaces opSeconds,
                      int64_t memoryLimit, const Limits &limits, Plan &plan);

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

#endif // AUTOPAR_LIB_PLANNING_STAGES_H
