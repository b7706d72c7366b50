//===- ReshardGraph.h - All steps of a change -------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_COST_RESHARDGRAPH_H
#define AUTOPAR_LIB_COST_RESHARDGRAPH_H

#include "autopar/Cost/Reshard.h"

namespace autopar {

/// The shardings between two given ones and the steps that join them, listed
/// once. The cheapest path for elements of any size is then found quickly.
class ReshardGraph {
public:
  /// Builds the graph between two shardings. The result is nullptr if there are
  /// so many shardings between them that a list is not worth it. `from` must
  /// have no interval.
  static std::unique_ptr<ReshardGraph> build(const Sharding &from,
                                             const Sharding &to,
                                             llvm::ArrayRef<int64_t> shape,
                                             const Mesh &mesh);

  /// secondsOf reshardPath; nullopt where there is no path.
  std::optional<double> seconds(int64_t elementBytes,
                                const ReshardCost &cost) const;

private:
  static constexpr size_t kMostStates = 48;
  /// The parts of a step that its price depends on. `bytes` counts elements of
  /// one byte.
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

  std::vector<Step> steps; // the different steps
  std::vector<Move> moves; // by the state that they leave
  /// The first move of each state, and behind them the end of the last state's
  /// moves. The start is state 0.
  llvm::SmallVector<unsigned, 16> firstMove;
  unsigned target = 0; // no state: there is no path
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_RESHARDGRAPH_H
