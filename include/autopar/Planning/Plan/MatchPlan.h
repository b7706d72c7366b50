//===- MatchPlan.h - An old plan's ops and tensors in a graph ---*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_MATCHPLAN_H
#define AUTOPAR_PLANNING_PLAN_MATCHPLAN_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Per op and value of the graph what the plan says of it; null: nothing. They
/// go together by name. Of those that one node became (`fc1`, `fc1#1`, ...),
/// where there are more or fewer than before, those of equal rule, or rank, do
/// so in their order.
struct PlanMatch {
  std::vector<const PlannedOp *> ops;
  std::vector<const PlannedValue *> values;
};
PlanMatch matchPlan(const Plan &plan, const ModelGraph &graph);

/// `matmul` of `matmul ([0, 2], [2, 1]) -> ([0, 1])`.
inline llvm::StringRef kindOfRule(llvm::StringRef rule) {
  return rule.split(' ').first;
}

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_MATCHPLAN_H
