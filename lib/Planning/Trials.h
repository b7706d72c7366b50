//===- Trials.h - Meshes, stages and micro-batches to try -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_TRIALS_H
#define AUTOPAR_LIB_PLANNING_TRIALS_H

#include "MeshCandidates.h"
#include "autopar/Planning/Search.h"

namespace autopar {

/// One mesh with a number of stages and micro-batches.
struct Trial {
  MeshCandidate candidate;
  int64_t microBatches = 1;
  unsigned index = 0; // of equally good plans the lowest's is kept
};

/// What the request, its constraints included, allows. The most even meshes
/// come first: what they find is near the best, so that it cuts off the others
/// soon.
llvm::Expected<std::vector<Trial>> trialsOf(const ModelGraph &graph,
                                            const PlanRequest &request);

/// The time axis first; an axis of one device where a stage has no other.
Mesh meshOf(const Trial &trial);

/// What each axis demands of each op. An axis whose name nobody can follow is
/// an error.
llvm::Expected<std::vector<OpDemand>> demandsOf(const ModelGraph &graph,
                                                const Trial &trial);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_TRIALS_H
