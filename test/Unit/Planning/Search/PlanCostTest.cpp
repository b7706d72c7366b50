//===- PlanCostTest.cpp - What each part of a plan costs ------------------===//

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Planning/Plan/Regathers.h"
#include "test/Unit/Planning/Plan/Plans.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(PlanCost, PartsAddUpToTheStep) {
  ModelGraph graph = twoLayers(512);
  for (StringRef strategy : {"replicated", "data", "auto"}) {
    Plan plan = cantFail(searchPlan(graph, requestOf(2, strategy, "")));
    PlanCost cost(plan, graph);
    EXPECT_NEAR(cost.compute + cost.communication, plan.predictedStepSeconds,
                1e-9 * plan.predictedStepSeconds)
        << strategy.str();
    double ops = 0;
    for (unsigned op = 0; op < graph.ops.size(); ++op) {
      ops += cost.opSeconds(op, cost.strategyOf(op));
      EXPECT_EQ(cost.stagesThatRun(op).size(), 1u);
    }
    EXPECT_NEAR(ops, cost.compute, 1e-9 * ops) << strategy.str();
  }
}

/// Where all is replicated nothing is resharded; a value that is asked for
/// otherwise costs.
TEST(PlanCost, ReshardsAreWhereTheyAreNeeded) {
  ModelGraph graph = twoLayers(512);
  Plan plan = cantFail(searchPlan(graph, requestOf(2, "replicated", "x=2")));
  PlanCost cost(plan, graph);
  EXPECT_TRUE(cost.reshards.empty());
  EXPECT_TRUE(cost.messages.empty());
  unsigned h = graph.ops[0].results[0];
  Sharding rows = Sharding::replicated(2);
  EXPECT_EQ(cost.valueSeconds(h, rows), 0);
  rows.dims[0].subAxes = {0};
  EXPECT_GT(cost.valueSeconds(h, rows), 0); // its reader wants it whole
}

TEST(PlanCost, StagesSendMessages) {
  ModelGraph graph = twoLayers(512);
  Plan plan = cantFail(searchPlan(graph, requestOf(2, "layer", "")));
  std::vector<StageCost> stages = stageCosts(plan, graph);
  ASSERT_EQ(stages.size(), 2u);
  for (const StageCost &stage : stages) {
    EXPECT_GT(stage.compute, 0);
    EXPECT_GT(stage.messages, 0);
    EXPECT_LE(stage.busy(), plan.predictedStepSeconds * (1 + 1e-9));
  }
}

/// Each copy that is made again is paid for by the op that makes it.
TEST(PlanCost, PaysForCopiesThatAreMadeAgain) {
  ModelGraph graph = layersAndGradients(2, 64, 64);
  Plan plan = replicatedPlan(graph, 2);
  for (const auto &[index, value] : enumerate(graph.values))
    if (value.source == ValueSource::State)
      plan.values[index].sharding.dims[0].subAxes = {0};
  PlanCost held(plan, graph);
  Plan other = plan;
  ASSERT_TRUE(regatherInEachTask(graph, other));
  PlanCost again(other, graph);
  EXPECT_EQ(held.reshards.size(), 2u);
  EXPECT_EQ(again.reshards.size(), 4u);
  EXPECT_NEAR(again.communication, 2 * held.communication, 1e-12);
  for (unsigned op = 0; op < 4; ++op) {
    EXPECT_GT(again.reshardSeconds(op), 0);
    EXPECT_NEAR(again.sidesSeconds(op, again.strategyOf(op)),
                again.reshardSeconds(op), 1e-12);
    EXPECT_EQ(held.sidesSeconds(op, held.strategyOf(op)), 0); // another reader
  }
}

} // namespace
