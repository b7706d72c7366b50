//===- PredictMemory.h - The memory of a device per stage -------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H
#define AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Estimates, for the search, the memory of a plan whose ops, values and stages
/// are decided: with the kernel groups of the model, reshards as buffers of
/// their own, and the order of work and the arena that Schedule would choose
/// for these. Counts
///   - parameters and setup values that steps read: as they are, packed for
///     library calls, or both, and twice while they are packed;
///   - the arena, once they are;
///   - on processors, what collectives and messages between stages pass
///     through.
/// The program differs from that where Partition adds masks of uneven blocks,
/// Schedule copies for layouts, or kernels join across a reshard. The plan of
/// the search that is chosen therefore gets the counts of its program
/// (Simulate/StepCounts.h).
/// Fills in predictedStageMemoryBytes and predictedPeakMemoryBytes.
void predictMemory(const ModelGraph &graph, Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H
