//===- PredictMemory.h - The memory of a device per stage -------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H
#define AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Predicts the memory of a plan whose ops, values and stages are decided, as
/// Partition and Schedule will compile it: with the same kernel groups,
/// reshards as buffers of their own, the same order of work and the same arena.
/// Counts
///   - parameters and setup values that steps read: as they are, packed for
///     library calls, or both, and twice while they are packed;
///   - the arena, once they are;
///   - on processors, what collectives and messages between stages pass
///   through.
/// Fills in predictedStageMemoryBytes and predictedPeakMemoryBytes.
void predictMemory(const ModelGraph &graph, Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H
