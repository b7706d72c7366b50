//===- MatchPlanTest.cpp - An old plan's ops and tensors in a graph -------===//

#include "autopar/Planning/Plan/MatchPlan.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

TEST(MatchPlan, GoesByName) {
  Plan plan = replicatedPlan(twoLayers(8), 2);
  ModelGraph graph = twoLayers(16);
  graph.ops[1].name = "renamed";
  PlanMatch match = matchPlan(plan, graph);
  EXPECT_EQ(match.ops[0], &plan.ops[0]);
  EXPECT_EQ(match.ops[1], nullptr);
  EXPECT_EQ(match.values[0], &plan.values[0]);
}

/// A node became one op fewer: of `node_r#1` and `node_r` the op of equal rule
/// is found.
TEST(MatchPlan, OfSeveralOpsOfANodeTheRuleDecides) {
  Plan plan = replicatedPlan(twoLayers(8), 2);
  plan.ops[0].name = "node_r";   // a product
  plan.ops[1].name = "node_r#1"; // a function of elements
  ModelGraph graph = twoLayers(8);
  PlanMatch match = matchPlan(plan, graph);
  EXPECT_EQ(match.ops[1], &plan.ops[1]);
}

TEST(MatchPlan, KindsBeginRules) {
  EXPECT_EQ(kindOfRule("matmul ([0, 2], [2, 1]) -> ([0, 1])"), "matmul");
}

} // namespace
