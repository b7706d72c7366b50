//===- EnumerateStrategies.h - All legal ways to run an op on a mesh ------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_ENUMERATESTRATEGIES_H
#define AUTOPAR_PLANNING_CONSTRAINTS_ENUMERATESTRATEGIES_H

#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Model/Strategies.h"

namespace autopar {

/// Returns every legal assignment that `limit` allows and that meets as much of
/// `demand` as any other. In an assignment each axis does nothing, splits one
/// factor (with as many of its sub-axes, major first, as the factor allows), or
/// passes a partial. A sub-axis that `limit` restricts chooses alone; the other
/// sub-axes of its axis choose together. Sub-axes of the time axis may only
/// split factors, and none that are reduced or decomposed. The first assignment
/// does the least.
std::vector<OpStrategy> enumerateStrategies(const ShardingRule &rule,
                                            const Mesh &mesh,
                                            const OpDemand &demand,
                                            const OpLimit &limit = {});

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_ENUMERATESTRATEGIES_H
