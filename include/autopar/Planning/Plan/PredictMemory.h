//===- PredictMemory.h - The memory of a device per stage -------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H
#define AUTOPAR_PLANNING_PLAN_PREDICTMEMORY_H

#include "autopar/Planning/Plan/Plan.h"
#include <map>

namespace autopar {

/// The bytes that a device of one stage holds.
struct StageMemory {
  int64_t weights = 0; // parameters and setup values, after loading
  int64_t loading = 0; // the most bytes of weights while they are loaded
  int64_t arena = 0;
  int64_t communication = 0; // what collectives and messages pass through

  int64_t peak() const {
    return std::max(loading, weights + arena) + communication;
  }
  /// Sets the bytes of weights that are read as they are (`plain`, in all) and
  /// in a library's packed forms (`packed`, each). A weight is in memory twice
  /// while it is packed, if `copiesToPack`; weights are packed one at a time,
  /// the largest first.
  void setWeights(int64_t plain, std::vector<int64_t> packed,
                  bool copiesToPack);
  /// Adds the staging buffers of communicators on a host's processors, whose
  /// largest message is given by their sub-axes.
  void addStaging(const std::map<std::vector<unsigned>, int64_t> &messages,
                  const Mesh &mesh);
};

/// Returns the bytes of a device of each stage, without those of padding.
std::vector<StageMemory> memoryOfStages(const ModelGraph &graph,
                                        const Plan &plan);

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
