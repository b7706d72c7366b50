//===- Reshard.h - The table of reshard steps and shortest paths over it --===//
//
// A reshard takes a value from one sharding to another by steps of a few kinds;
// Dijkstra's algorithm finds the cheapest steps. Planning prices edges with the
// seconds of the path; a plan records the steps, and Partition emits them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_RESHARD_H
#define AUTOPAR_COST_RESHARD_H

#include "autopar/Interfaces/ShardingStep.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace autopar {

/// A step of a path. `after` is the value's sharding after the step.
struct ReshardStep : ShardingStep {
  Sharding after;
  /// The bytes of the value on one device, on the side of the step where these
  /// are more: the result of AllGather and of local steps, the operand of
  /// ReduceScatter, AllToAll and AllReduce. For Halo, the bytes that the
  /// busiest device receives.
  int64_t bytes = 0;
  double seconds = 0; // as the cost function said
};
using ReshardPath = llvm::SmallVector<ReshardStep, 2>;

/// Returns how many positions of its interval the busiest device does not hold
/// yet, if a dimension of `size` is cut into `parts` blocks. Fill values do not
/// count.
int64_t haloSize(int64_t size, int64_t parts, const Interval &interval);

/// The seconds of a step by its kind, sub-axes and bytes; no other field is
/// filled in yet. The result is never negative.
using ReshardCost = std::function<double(const ReshardStep &)>;

/// The cheapest steps that turn `from` into `to`; ties go to fewer bytes, then
/// fewer steps, then a fixed order. Empty when both are equal. It is nullopt if
/// there is no legal path: `from` has an interval, or sub-axes of the time axis
/// would have to communicate.
std::optional<ReshardPath> reshardPath(const Sharding &from, const Sharding &to,
                                       llvm::ArrayRef<int64_t> shape,
                                       int64_t elementBytes, const Mesh &mesh,
                                       const ReshardCost &cost);

/// Returns whether a change from values that are partial so, to values that are
/// partial so, performs a reduction.
bool reduces(llvm::ArrayRef<Partial> from, llvm::ArrayRef<Partial> to);

/// Returns whether one of the steps moves data between devices.
bool communicates(const ReshardPath &path);

/// Sum of the steps' seconds.
double secondsOf(const ReshardPath &path);

/// Finds paths and remembers them by shardings, shape and bytes of an element.
class ReshardCache {
public:
  ReshardCache(const Mesh &mesh, ReshardCost cost)
      : mesh(mesh), cost(std::move(cost)) {}
  const std::optional<ReshardPath> &get(const Sharding &from,
                                        const Sharding &to,
                                        llvm::ArrayRef<int64_t> shape,
                                        int64_t elementBytes);

private:
  Mesh mesh;
  ReshardCost cost;
  llvm::StringMap<std::optional<ReshardPath>> paths;
};

/// Appends short text that differs for different shardings of one mesh.
void appendKey(std::string &key, const Sharding &sharding);

} // namespace autopar

#endif // AUTOPAR_COST_RESHARD_H
