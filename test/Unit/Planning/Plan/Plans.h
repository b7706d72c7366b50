//===- Plans.h - Plans of small models ------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_PLAN_PLANS_H
#define AUTOPAR_TEST_UNIT_PLANNING_PLAN_PLANS_H

#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "test/Unit/Planning/SmallModel.h"

namespace autopar {

/// A plan on so many ranks along `x` in which all is replicated; stages take
/// one rank each and the ops in equal runs.
inline Plan replicatedPlan(const ModelGraph &graph, int64_t ranks,
                           int64_t stages = 1) {
  Plan plan;
  plan.cluster = llvm::cantFail(clusterOfRanks(ranks));
  plan.mesh = Mesh({{"x", ranks / stages}});
  plan.stages = stages;
  for (size_t index = 0; index < graph.ops.size(); ++index) {
    PlannedOp &op = plan.ops.emplace_back();
    op.name = graph.ops[index].name;
    op.assignment.assign(plan.mesh.subAxes().size(), Choice());
    op.stage = int64_t(index * stages / graph.ops.size());
  }
  for (const GraphValue &value : graph.values)
    plan.values.push_back(
        {value.name, Sharding::replicated(value.shape.size())});
  identify(plan, graph);
  return plan;
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_PLAN_PLANS_H
