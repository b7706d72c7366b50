//===- MeshCandidates.h - Meshes that a request allows ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_MESHCANDIDATES_H
#define AUTOPAR_LIB_PLANNING_SEARCH_MESHCANDIDATES_H

#include "autopar/Planning/Search/Search.h"
#include <set>

namespace autopar {

/// A mesh for the devices of one stage, what is demanded along each axis, and
/// the number of stages.
struct MeshCandidate {
  llvm::SmallVector<MeshAxis> axes;
  llvm::SmallVector<StrategyName> names; // per axis
  int64_t stages = 1;
  /// An op of which a name demands nothing does nothing along its axis.
  bool strict = false;
  /// The candidate is tried only if no other has a plan.
  bool lastResort = false;
};

/// Returns the meshes to try. `batch` is the batch of the model's inputs.
llvm::Expected<std::vector<MeshCandidate>>
meshCandidates(const PlanRequest &request, int64_t batch);

/// Returns the names that axes may have in a search of these meshes, on any
/// number of devices.
std::set<std::string> namesInSearch(llvm::ArrayRef<MeshCandidate> candidates);

/// Returns the smallest factor above 1 of a number of 2 or more.
int64_t smallestFactor(int64_t number);

/// Returns along how many devices everything is replicated: a model may be too
/// small for all devices, or need more than two axes to say what each does.
int64_t replicasOf(const MeshCandidate &candidate);

/// Meshes of fewer devices that are like another mesh.
struct SmallerMeshes {
  int64_t factor = 1;                // to be made up by replicas or stages
  std::vector<MeshCandidate> meshes; // the nearest first
};
/// Returns a few meshes with fewer devices, by the smallest factor that there
/// is. Replicas stay.
SmallerMeshes smallerMeshes(const MeshCandidate &candidate);
void addReplicas(MeshCandidate &candidate, int64_t factor);
/// Returns meshes in which one axis is shorter: its size is any divisor down to
/// 1, and the rest of it is replicated. Of several axes with one name only the
/// last may vanish.
std::vector<MeshCandidate> shorterAxes(const MeshCandidate &candidate);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_MESHCANDIDATES_H
