//===- StageCounts.h - The kernels and the memory of a stage ----*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_STAGECOUNTS_H
#define AUTOPAR_PLANNING_PLAN_STAGECOUNTS_H

#include "autopar/Interfaces/Sharding.h"
#include <algorithm>
#include <map>
#include <vector>

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

/// The work and the bytes of a device of one stage.
struct StageCounts {
  int64_t kernels = 0; // per micro-batch, library calls among them
  StageMemory memory;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_STAGECOUNTS_H
