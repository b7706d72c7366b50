//===- MeshCandidates.h - Meshes that a request allows ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_MESHCANDIDATES_H
#define AUTOPAR_LIB_PLANNING_SEARCH_MESHCANDIDATES_H

#include "autopar/Planning/Search/Search.h"

namespace autopar {

/// Axes of one stage's devices with what each is demanded to do, and the number
/// of stages.
struct MeshCandidate {
  llvm::SmallVector<MeshAxis> axes;
  llvm::SmallVector<StrategyName> names; // per axis
  int64_t stages = 1;
  /// Ops of which a name demands nothing do nothing along its axis.
  bool strict = false;
  /// Tried only where no other has a plan.
  bool lastResort = false;
};

/// `batch`: of the model's inputs.
llvm::Expected<std::vector<MeshCandidate>>
meshCandidates(const PlanRequest &request, int64_t batch);

/// The smallest factor of a number of 2 or more, but for 1.
int64_t smallestFactor(int64_t number);

/// Along so many devices everything is replicated: a model may be too small for
/// all devices, or two axes too few to say what each would do.
int64_t replicasOf(const MeshCandidate &candidate);

/// Meshes of fewer devices like another.
struct SmallerMeshes {
  int64_t factor = 1; // so many times fewer: it goes to replicas or to stages
  std::vector<MeshCandidate> meshes; // the nearest first
};
/// As few fewer as can be, and a few of their meshes; replicas stay.
SmallerMeshes smallerMeshes(const MeshCandidate &candidate);
void addReplicas(MeshCandidate &candidate, int64_t factor);
/// Meshes in which one axis is shorter, its size any divisor down to 1, and the
/// rest of it is replicated. Of axes of one name only the last falls away.
std::vector<MeshCandidate> shorterAxes(const MeshCandidate &candidate);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_MESHCANDIDATES_H
