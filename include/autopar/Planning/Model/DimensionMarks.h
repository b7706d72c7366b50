//===- DimensionMarks.h - Dimensions followed through a graph -------------===//

#ifndef AUTOPAR_PLANNING_MODEL_DIMENSIONMARKS_H
#define AUTOPAR_PLANNING_MODEL_DIMENSIONMARKS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include <functional>

namespace autopar {

/// One marked dimension per value (the batch, the channels, ...), and the
/// factor of each op that makes it up.
struct DimensionMarks {
  std::vector<std::optional<unsigned>> dims;    // per value
  std::vector<std::optional<unsigned>> factors; // per op
  explicit DimensionMarks(const ModelGraph &graph)
      : dims(graph.values.size()), factors(graph.ops.size()) {}
};

using OpFilter = std::function<bool(const GraphOp &)>;

/// Returns the factor whose blocks are contiguous in a dimension: the first one
/// of more than one element; nullopt if there is none.
std::optional<unsigned> majorFactor(const ShardingRule &rule,
                                    const DimFactors &dim);

/// Carries marks from operands to results through the ops that `through` takes.
void propagateForward(const ModelGraph &graph, DimensionMarks &marks,
                      const OpFilter &through);
/// Carries marks from results to operands, too, until nothing changes.
void propagateBothWays(const ModelGraph &graph, DimensionMarks &marks,
                       const OpFilter &through);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_DIMENSIONMARKS_H
