//===- IdentifyPlan.h - The graph that a plan is for ------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_IDENTIFYPLAN_H
#define AUTOPAR_PLANNING_PLAN_IDENTIFYPLAN_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Returns an op's kind and rule, such as `matmul ([0, 2], [2, 1]) -> ([0,
/// 1])`.
std::string ruleWithoutSizes(const GraphOp &op);
/// Records in a plan which graph it is for: name, hashes and rules. The plan
/// must be aligned with the graph.
void identify(Plan &plan, const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_IDENTIFYPLAN_H
