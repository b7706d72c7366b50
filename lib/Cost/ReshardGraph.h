//===- ReshardGraph.h - All steps of a change -------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_COST_RESHARDGRAPH_H
#define AUTOPAR_LIB_COST_RESHARDGRAPH_H

#include "autopar/Cost/Reshard.h"

namespace autopar {

/// The shardings between two and the steps that join them, listed once: what
/// the cheapest path takes is then soon found for elements of any size.
class ReshardGraph {
public:
  /// nullptr: there are more shardings between them than are worth a list.
  /// `from` has no interval.
  static std::unique_ptr<ReshardGraph> build(const Sharding &from,
                                             const Sharding &to,
                                             llvm::ArrayRef<int64_t> shape,
                                             const Mesh &mesh);

  /// secondsOf reshardPath; nullopt where there is no path.
  std::optional<double> seconds(int64_t elementBytes,
                                const ReshardCost &cost) const;

private:
  static constexpr size_t kMostStates = 48;
  /// What a step's price depends on; `bytes` of elements of one byte.
  struct Step {
    ReshardKind kind;
    llvm::SmallVector<unsigned, 6> subAxes;
    int64_t bytes;
    bool operator==(const Step &o) const {
      return kind == o.kind && bytes == o.bytes && subAxes == o.subAxes;
    }
  };
  struct Move {
    unsigned to;   // state
    unsigned step; // place in `steps`
  };

  std::vector<Step> steps; // that differ
  std::vector<Move> moves; // by the state that they leave
  /// Per state its first move, and where the last one's end; the start is 0.
  llvm::SmallVector<unsigned, 16> firstMove;
  unsigned target = 0; // no state: there is no path
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_RESHARDGRAPH_H
