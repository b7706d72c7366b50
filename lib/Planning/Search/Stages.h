//===- Stages.h - A graph cut into pipeline stages --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_STAGES_H
#define AUTOPAR_LIB_PLANNING_SEARCH_STAGES_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Plan/Plan.h"

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

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_STAGES_H
