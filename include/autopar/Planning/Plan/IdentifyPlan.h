//===- IdentifyPlan.h - Of which graph a plan is --------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_IDENTIFYPLAN_H
#define AUTOPAR_PLANNING_PLAN_IDENTIFYPLAN_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// `matmul ([0, 2], [2, 1]) -> ([0, 1])`
std::string ruleWithoutSizes(const GraphOp &op);
/// Writes down of which graph a plan is that is aligned with it: name, hashes,
/// rules.
void identify(Plan &plan, const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_IDENTIFYPLAN_H
