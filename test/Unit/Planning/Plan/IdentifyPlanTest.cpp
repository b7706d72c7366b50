//===- IdentifyPlanTest.cpp - Of which graph a plan is --------------------===//

#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

/// The structure is that of a model of another batch, the hash is not.
TEST(IdentifyPlan, TellsSizesAndStructureApart) {
  Plan few = replicatedPlan(twoLayers(8), 2);
  Plan many = replicatedPlan(twoLayers(16), 2);
  EXPECT_NE(few.modelHash, many.modelHash);
  EXPECT_EQ(few.structureHash, many.structureHash);
  EXPECT_NE(few.structureHash, replicatedPlan(chainOf(3), 2).structureHash);
}

TEST(IdentifyPlan, RulesHaveNoSizes) {
  EXPECT_EQ(ruleWithoutSizes(twoLayers(8).ops[0]),
            ruleWithoutSizes(twoLayers(16).ops[0]));
  Plan plan = replicatedPlan(twoLayers(8), 2);
  EXPECT_EQ(plan.ops[0].rule, ruleWithoutSizes(twoLayers(8).ops[0]));
  EXPECT_NE(plan.ops[0].rule, plan.ops[1].rule);
}
