//===- PlannedReshardsTest.cpp - The steps of a plan's reshards -----------===//

#include "autopar/Planning/Plan/PlannedReshards.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

TEST(PlannedReshards, AreNoneWhereShardingsStay) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 2);
  PlannedReshards reshards(graph, plan);
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    EXPECT_TRUE(reshards.ofOperand(op, 0)->empty());
    EXPECT_TRUE(reshards.ofResult(op, 0)->empty());
  }
  EXPECT_TRUE(reshards.ofReturned(0)->empty());
}

/// The first op's result is stored split, so that a slice leads there, and its
/// reader wants it whole.
TEST(PlannedReshards, LeadFromTheMakerToEachReader) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 2);
  unsigned value = graph.ops[0].results[0];
  Sharding &stored = plan.values[value].sharding;
  stored.dims[0].subAxes = {0};
  PlannedReshards reshards(graph, plan);
  EXPECT_TRUE(reshards.given(value).isReplicated());
  const PlannedReshards::Steps &made = reshards.ofResult(0, 0);
  ASSERT_TRUE(made && made->size() == 1);
  EXPECT_EQ(made->front().kind, ReshardKind::SliceBlock);
  EXPECT_EQ(made->front().after, stored);
  GraphUse use = graph.values[value].uses.front();
  const PlannedReshards::Steps &read = reshards.ofOperand(use.op, use.operand);
  ASSERT_TRUE(read && read->size() == 1);
  EXPECT_EQ(read->front().kind, ReshardKind::AllGather);
  EXPECT_EQ(read->front().after,
            reshards.shardings(use.op).operands[use.operand]);
}

/// A result of the step is returned without partial sums.
TEST(PlannedReshards, EndPartialResultsOfTheStep) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 2);
  plan.values[graph.stepResults.front()].sharding.partial = {
      {0, ReduceKind::Sum}};
  PlannedReshards reshards(graph, plan);
  const PlannedReshards::Steps &steps = reshards.ofReturned(0);
  ASSERT_TRUE(steps && steps->size() == 1);
  EXPECT_EQ(steps->front().kind, ReshardKind::AllReduce);
}

} // namespace
