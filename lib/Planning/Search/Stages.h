//===- Stages.h - A graph cut into pipeline stages --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_STAGES_H
#define AUTOPAR_LIB_PLANNING_SEARCH_STAGES_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// For each kind of place of stages (StagePlaces), the seconds of each op,
/// once.
using SecondsAtPlaces = llvm::ArrayRef<std::vector<double>>;

/// Cuts the ops of @step, in program order, into plan.stages runs by a dynamic
/// program. It weighs the seconds of ops (in one micro-batch), the bytes that
/// cross each cut, and the parameters of each stage. Ops that `limits` pins to
/// a stage, and ops that depend on them, come later in that order. Writes
/// stages and predictions to `plan`: those of the fastest of the most promising
/// cuts that fit the memory, or else of the cuts that exceed it the least.
llvm::Error cutStages(const ModelGraph &graph, SecondsAtPlaces opSeconds,
                      const MemoryLimit &memoryLimit, const Limits &limits,
                      Plan &plan);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_STAGES_H
