//===- PlanFactsTest.cpp - What parts of a plan do, cost and hold ---------===//

#include "autopar/Report/PlanFacts.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

const HeldTensor *find(ArrayRef<HeldTensor> list, StringRef tensor) {
  const auto *it = llvm::find_if(
      list, [&](const HeldTensor &held) { return held.tensor == tensor; });
  return it == list.end() ? nullptr : it;
}

TEST(PlanFacts, PartsOpsAndStagesAddUpToTheStep) {
  ModelGraph graph = weightedLayers(64);
  Plan plan = planOf(graph, "1x2:cpu", "tensor", "tensor=2");
  PlanFacts facts = factsOf(plan, graph);
  double parts = 0, ops = 0;
  for (const CostPart &part : facts.parts)
    parts += part.seconds;
  for (const ExplainedOp &op : facts.ops)
    ops += op.compute + op.communication;
  EXPECT_NEAR(parts / plan.predictedStepSeconds, 1, 1e-9);
  EXPECT_NEAR(ops / plan.predictedStepSeconds, 1, 1e-9);
  ASSERT_EQ(facts.ops.size(), 3u);
  EXPECT_EQ(facts.ops[0].strategy, "tensor: split 2 (weights by columns)");
  EXPECT_EQ(facts.ops[2].outcomes, std::vector<std::string>{"weights by rows"});
  ASSERT_EQ(facts.origins.size(), 1u);
  EXPECT_FALSE(facts.origins[0].otherWays.empty());
}

/// The plan's own cluster is priced as the search did; what is faster takes
/// less.
TEST(PlanFacts, ChangedClustersArePricedAsTheSearchDoes) {
  ModelGraph graph = weightedLayers(64);
  for (auto [strategy, mesh] :
       {std::pair("tensor", "tensor=2"), {"layer", "layer=2"}}) {
    Plan plan = planOf(graph, "2x1:a100-80gb", strategy, mesh);
    std::vector<ChangedCluster> changes = factsOf(plan, graph).changes;
    double now = changes.front().stepSeconds;
    EXPECT_NEAR(now / plan.predictedStepSeconds, 1, 1e-9) << strategy;
    ASSERT_EQ(changes.size(), 5u); // no link in a node of one device
    EXPECT_EQ(changes[1].text, "links between nodes of twice the rate");
    for (const ChangedCluster &change : ArrayRef(changes).drop_front())
      EXPECT_LE(change.stepSeconds, now) << change.text;
    EXPECT_LT(changes.back().stepSeconds, now);
  }
}

TEST(PlanFacts, TensorsAreHeldFromTheOpThatMakesThemToTheLastThatReadsThem) {
  ModelGraph graph = weightedLayers(64);
  Plan plan = planOf(graph, "1x2:cpu", "tensor", "tensor=2");
  std::vector<std::vector<HeldTensor>> stages = heldTensors(plan, graph);
  ASSERT_EQ(stages.size(), 1u);
  const HeldTensor *weight = find(stages[0], "w1"), *h = find(stages[0], "h");
  ASSERT_TRUE(weight && h);
  EXPECT_EQ(weight->bytes % (64 * 128 * 4), 0);
  EXPECT_GT(weight->bytes, 0);
  EXPECT_EQ(weight->from, "");
  EXPECT_EQ(h->bytes, 64 * 128 * 4);
  EXPECT_EQ(h->from, "op node_h");
  EXPECT_EQ(h->to, "op node_r");
  EXPECT_EQ(h->atOnce, 1);
}

/// Both halves of a pipeline hold weights of their own.
TEST(PlanFacts, StagesHoldWhatTheyRun) {
  ModelGraph graph = weightedLayers(64);
  Plan plan = planOf(graph, "1x2:cpu", "layer", "layer=2");
  std::vector<std::vector<HeldTensor>> stages = heldTensors(plan, graph);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_TRUE(find(stages[0], "w1") && !find(stages[0], "w2"));
  EXPECT_TRUE(find(stages[1], "w2") && !find(stages[1], "w1"));
  std::vector<StageTraffic> traffic = factsOf(plan, graph).traffic;
  ASSERT_EQ(traffic.size(), 1u);
  EXPECT_EQ(traffic[0].to, 1);
  EXPECT_GT(traffic[0].bytes, 0);
}

} // namespace
