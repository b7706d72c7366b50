//===- MatchPlan.h - An old plan's ops and tensors in a graph ---*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_MATCHPLAN_H
#define AUTOPAR_PLANNING_PLAN_MATCHPLAN_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// The plan's item for each op and value of the graph; null if there is none.
/// Items match by name. One ONNX node may have become several ops (`fc1`,
/// `fc1#1`, ...), which match in their order. If their number has changed, only
/// ops of equal rule match, and only values of equal rank.
struct PlanMatch {
  std::vector<const PlannedOp *> ops;
  std::vector<const PlannedValue *> values;
};
PlanMatch matchPlan(const Plan &plan, const ModelGraph &graph);

/// Returns the kind that a rule begins with: `matmul` for `matmul ([0, 2], [2,
/// 1]) -> ([0, 1])`.
inline llvm::StringRef kindOfRule(llvm::StringRef rule) {
  return rule.split(' ').first;
}

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_MATCHPLAN_H
