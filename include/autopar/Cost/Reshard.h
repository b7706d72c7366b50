//===- Reshard.h - The table of reshard steps and shortest paths over it --===//
//
// From one sharding of a value to another: a few kinds of steps, and Dijkstra
// over the shardings between. Planning prices edges with the path's seconds;
// Partition emits the same steps.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_RESHARD_H
#define AUTOPAR_COST_RESHARD_H

#include "autopar/Interfaces/Sharding.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace autopar {

/// The rows of the table. The first two are local, the others communicate.
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

/// One step of a path. What it does to the value is in `after`.
struct ReshardStep {
  ReshardKind kind;
  llvm::SmallVector<unsigned, 2> subAxes; // major to minor
  unsigned dim = 0;                       // unused by KeepFirst and AllReduce
  unsigned concatDim = 0;                 // AllToAll only
  ReduceKind reduce = ReduceKind::Sum; // of KeepFirst, ReduceScatter, AllReduce
  Sharding after;
  /// What one device holds of the value at the step's wider side (AllGather:
  /// the result; ReduceScatter, AllToAll, AllReduce: the operand; local steps:
  /// the result); for Halo, what the busiest device receives.
  int64_t bytes = 0;
  double seconds = 0; // as the cost function said
};
using ReshardPath = llvm::SmallVector<ReshardStep, 2>;

/// Of a dimension of `size` in `parts` blocks: how many positions of its
/// interval the busiest device does not hold, fill values not counted.
int64_t haloSize(int64_t size, int64_t parts, const Interval &interval);

/// Seconds of a step by its kind, sub-axes and bytes: nothing else is filled in
/// yet. Never negative.
using ReshardCost = std::function<double(const ReshardStep &)>;

/// The cheapest steps that turn `from` into `to`; ties go to fewer bytes, then
/// fewer steps, then a fixed order. Empty when both are equal. nullopt: there
/// is no legal path: `from` has an interval, or sub-axes of the time axis would
/// have to communicate.
std::optional<ReshardPath> reshardPath(const Sharding &from, const Sharding &to,
                                       llvm::ArrayRef<int64_t> shape,
                                       int64_t elementBytes, const Mesh &mesh,
                                       const ReshardCost &cost);

/// Whether a change between values that are partial so reduces one of them.
bool reduces(llvm::ArrayRef<Partial> from, llvm::ArrayRef<Partial> to);

/// Sum of the steps' seconds.
double secondsOf(const ReshardPath &path);

/// Remembers paths by what they were asked for.
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

/// Short text that tells shardings of one mesh apart.
void appendKey(std::string &key, const Sharding &sharding);

} // namespace autopar

#endif // AUTOPAR_COST_RESHARD_H
