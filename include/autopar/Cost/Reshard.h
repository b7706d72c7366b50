//===- Reshard.h - The table of reshard steps and shortest paths over it --===//
//
// A reshard takes a value from one sharding to another by steps of a few kinds;
// Dijkstra's algorithm finds the cheapest steps. Planning prices edges with the
// seconds of the path, and Partition emits the same steps.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_RESHARD_H
#define AUTOPAR_COST_RESHARD_H

#include "autopar/Interfaces/Sharding.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace autopar {

/// The kinds of steps. The first two are local, the others communicate.
enum class ReshardKind {
  SliceBlock,    // replicated over `subAxes` -> split in `dim`
  KeepFirst,     // replicated over `subAxes` -> partial
  AllGather,     // the minor `subAxes` of `dim` -> replicated
  ReduceScatter, // partial over `subAxes` -> split in `dim`
  AllToAll,  // the minor `subAxes` of `concatDim` -> minor sub-axes of `dim`
  AllReduce, // partial over `subAxes` -> replicated
  Halo,      // plain blocks of `dim` over `subAxes` -> an interval
};
llvm::StringRef stringifyReshardKind(ReshardKind kind);
inline bool isLocal(ReshardKind kind) {
  return kind == ReshardKind::SliceBlock || kind == ReshardKind::KeepFirst;
}

/// A step of a path. `after` is the value's sharding after the step.
struct ReshardStep {
  ReshardKind kind;
  llvm::SmallVector<unsigned, 2> subAxes; // major to minor
  unsigned dim = 0;                       // unused by KeepFirst and AllReduce
  unsigned concatDim = 0;                 // AllToAll only
  ReduceKind reduce = ReduceKind::Sum; // of KeepFirst, ReduceScatter, AllReduce
  Sharding after;
  /// The bytes of the value on one device, on the side of the step where these
  /// are more: the result of AllGather and of local steps, the operand of
  /// ReduceScatter, AllToAll and AllReduce. For Halo, the bytes that the
  /// busiest device receives.
  int64_t bytes = 0;
  double seconds = 0; // as the cost function said
};
using ReshardPath = llvm::SmallVector<ReshardStep, 2>;

/// A dimension of `size` is in `parts` blocks: how many positions of its
/// interval the busiest device does not hold yet. Fill values do not count.
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
