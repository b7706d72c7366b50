//===- Strategies.h - All legal ways to run an op on a mesh -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_STRATEGIES_H
#define AUTOPAR_LIB_PLANNING_STRATEGIES_H

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Planning/Constraints.h"
#include "autopar/Planning/Demands.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace autopar {

struct OpStrategy {
  Assignment assignment;
  OpShardings shardings;
};

/// The strategies of ops by their assignments, made once for all ops that share
/// their facts. Mesh and graph must outlive it; for one thread.
class StrategyTable {
public:
  explicit StrategyTable(const Mesh &mesh) : mesh(mesh) {}
  StrategyTable(const StrategyTable &) = delete;
  /// Good as long as the table; nullptr: the assignment is not legal.
  const OpStrategy *find(const GraphOp &op, const Assignment &assignment);

private:
  struct Known {
    Assignment assignment;
    std::unique_ptr<const OpStrategy> strategy;
  };
  const Mesh &mesh;
  llvm::DenseMap<const GraphOpFacts *, llvm::SmallVector<Known, 1>> known;
};

/// Every legal assignment in which each axis does nothing, splits one factor
/// (with as many of its sub-axes, major first, as the factor allows), or passes
/// a partial; of those that `limit` allows, the ones that meet the most of
/// `demand`. Limited sub-axes of an axis choose for themselves, its other
/// sub-axes together. Sub-axes of the time axis only split, and neither reduced
/// nor decomposed factors. The first does the least.
std::vector<OpStrategy> enumerateStrategies(const ShardingRule &rule,
                                            const Mesh &mesh,
                                            const OpDemand &demand,
                                            const OpLimit &limit = {});

/// All-reduces by which a composite that is split along a reduced factor
/// combines its statistics: `op.facts->reductions` of each.
llvm::SmallVector<ReshardStep, 1>
combiningSteps(const ModelGraph &graph, const GraphOp &op,
               const OpStrategy &strategy, const Mesh &mesh,
               CommunicationModel &communication);

/// Seconds of `op` on one device under `strategy`.
double strategySeconds(const ModelGraph &graph, const GraphOp &op,
                       const OpStrategy &strategy, const Mesh &mesh,
                       const DeviceType &device,
                       CommunicationModel &communication);

/// Bytes of one device's block.
int64_t localBytes(const GraphValue &value, const Sharding &sharding,
                   const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_STRATEGIES_H
