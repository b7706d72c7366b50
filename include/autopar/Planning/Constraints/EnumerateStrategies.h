//===- EnumerateStrategies.h - All legal ways to run an op on a mesh ------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_ENUMERATESTRATEGIES_H
#define AUTOPAR_PLANNING_CONSTRAINTS_ENUMERATESTRATEGIES_H

#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Model/Strategies.h"

namespace autopar {

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

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_ENUMERATESTRATEGIES_H
