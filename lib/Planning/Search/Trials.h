//===- Trials.h - Meshes, stages and micro-batches to try -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_TRIALS_H
#define AUTOPAR_LIB_PLANNING_SEARCH_TRIALS_H

#include "MeshCandidates.h"
#include "autopar/Planning/Search/Search.h"

namespace autopar {

class SharedWork;

/// One mesh of a cluster or a part of it, with a number of stages and
/// micro-batches.
struct Trial {
  Cluster cluster;
  MeshCandidate candidate;
  int64_t microBatches = 1;
  Objective objective = Objective::Latency;
  unsigned index = 0; // of equally good plans the lowest's is kept
  /// No plan of the trial is below: all of a stage's devices share each op's
  /// work and the weights that it reads, and none communicates.
  double leastSeconds = 0;

  Pipeline pipeline() const {
    return {candidate.stages, microBatches, objective};
  }
};

/// What the request, its constraints included, allows: the whole cluster in one
/// stage first, and the most even meshes of it. What they find is near the
/// best, so that it cuts off the others soon: of these what promises most comes
/// first, and last resorts at the end.
llvm::Expected<std::vector<Trial>> trialsOf(const ModelGraph &graph,
                                            const PlanRequest &request);

/// What the request allows of meshes like those of `centers`, one after the
/// other, with more replicas or stages, and like that of `toShorten` with one
/// axis shorter by any factor (of one stage, unless the fewest devices are
/// asked for); none where the request fixes the mesh.
std::vector<Trial> neighbours(const ModelGraph &graph,
                              const PlanRequest &request,
                              llvm::ArrayRef<Trial> centers,
                              const Trial *toShorten = nullptr);

/// The time axis first; an axis of one device where a stage
/// has no other.
Mesh meshOf(const Trial &trial);

/// `x=4, y=2, 3 stages`, and which part it is of the `whole` cluster.
std::string nameOf(const Trial &trial, const Cluster &whole);

/// What each axis demands of each op. An axis whose name nobody can follow is
/// an error.
llvm::Expected<const OpDemands &>
demandsOf(const ModelGraph &graph, const Trial &trial, SharedWork &shared);

/// StagePlaces::leastShare.
double leastShare(const Trial &trial);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_TRIALS_H
