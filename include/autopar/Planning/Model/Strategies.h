//===- Strategies.h - Ways to run an op and their costs ---------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_MODEL_STRATEGIES_H
#define AUTOPAR_PLANNING_MODEL_STRATEGIES_H

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace autopar {

struct OpStrategy {
  Assignment assignment;
  OpShardings shardings;
};

/// The strategies of ops by their assignments, made once for all ops that share
/// their facts. Mesh and graph must outlive the table. Only one thread may use
/// it.
class StrategyTable {
public:
  explicit StrategyTable(const Mesh &mesh) : mesh(mesh) {}
  StrategyTable(const StrategyTable &) = delete;
  /// Returns the strategy, which lives as long as the table; nullptr if the
  /// assignment is not legal.
  const OpStrategy *find(const GraphOp &op, const Assignment &assignment);

private:
  struct Known {
    Assignment assignment;
    std::unique_ptr<const OpStrategy> strategy;
  };
  const Mesh &mesh;
  llvm::DenseMap<const GraphOpFacts *, llvm::SmallVector<Known, 1>> known;
};

/// Returns the all-reduce by which a composite that is split along reduced
/// factors combines a statistic of its parts. It is over all sub-axes that
/// split reduced factors, and its message has one number of 32 bits or more for
/// each row. It runs `op.facts->reductions` times. Partition makes it
/// (DecomposeComposites.cpp).
std::optional<ReshardStep> combiningStep(const ModelGraph &graph,
                                         const GraphOp &op,
                                         const OpStrategy &strategy,
                                         const Mesh &mesh,
                                         CommunicationModel &communication);

/// Returns the seconds of `op` on one device under `strategy`.
double strategySeconds(const ModelGraph &graph, const GraphOp &op,
                       const OpStrategy &strategy, const Mesh &mesh,
                       const DeviceType &device,
                       CommunicationModel &communication);

/// Returns the bytes of one device's block.
int64_t localBytes(const GraphValue &value, const Sharding &sharding,
                   const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_STRATEGIES_H
