//===- Trials.h - Meshes, stages and micro-batches to try -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_TRIALS_H
#define AUTOPAR_LIB_PLANNING_SEARCH_TRIALS_H

#include "MeshCandidates.h"
#include "autopar/Planning/Search/Search.h"

namespace autopar {

class SharedWork;

/// A mesh on a cluster or a part of it, with a number of stages and of
/// micro-batches.
struct Trial {
  Cluster cluster;
  MeshCandidate candidate;
  int64_t microBatches = 1;
  Objective objective = Objective::Latency;
  /// The search keeps the plan of the lowest index if several are equally good.
  unsigned index = 0;
  /// A lower bound on the seconds of all plans of the trial. It assumes that
  /// all devices of a stage share the work of each op and the weights that it
  /// reads, and that no device communicates.
  double leastSeconds = 0;

  Pipeline pipeline() const {
    return {candidate.stages, microBatches, objective};
  }
};

/// Returns the trials that the request and its constraints allow. First come
/// those of the whole cluster in one stage, the most even meshes before others:
/// their plans are often near the best, so they cut off others early. Then come
/// the other trials, those with the least `leastSeconds` first, and last
/// resorts at the end.
llvm::Expected<std::vector<Trial>> trialsOf(const ModelGraph &graph,
                                            const PlanRequest &request);

/// Returns the allowed trials whose meshes are like those of `centers`, with
/// more replicas or stages, one center after the other. Then follow meshes like
/// that of `toShorten` with one axis shorter by any factor (only for one stage,
/// unless the fewest devices are asked for). Returns none if the request fixes
/// the mesh.
std::vector<Trial> neighbours(const ModelGraph &graph,
                              const PlanRequest &request,
                              llvm::ArrayRef<Trial> centers,
                              const Trial *toShorten = nullptr);

/// Returns the mesh of a trial. The time axis comes first. If a stage has no
/// other axis, an axis of one device is added.
Mesh meshOf(const Trial &trial);

/// Returns a name such as `x=4, y=2, 3 stages`, which also tells the part of
/// the cluster `whole` that the trial uses.
std::string nameOf(const Trial &trial, const Cluster &whole);

/// Returns what each axis demands of each op, or an error if no op can follow
/// the name of an axis.
llvm::Expected<const OpDemands &>
demandsOf(const ModelGraph &graph, const Trial &trial, SharedWork &shared);

/// Returns StagePlaces::leastShare of the trial.
double leastShare(const Trial &trial);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_TRIALS_H
