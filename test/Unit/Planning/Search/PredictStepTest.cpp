//===- PredictStepTest.cpp - What a plan that was found takes -------------===//

#include "autopar/Planning/Search/PredictStep.h"
#include "autopar/Planning/Search/PlanCost.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// The gap is what the best is above the bound, and the best trial is told to
/// take as long as the plan.
TEST(PredictStep, WritesSecondsGapAndCollectives) {
  ModelGraph graph = weightedLayers(512);
  Plan plan = cantFail(searchPlan(graph, requestOf(2, "tensor", "")));
  double seconds = plan.predictedStepSeconds;
  std::vector<SearchTrial> tried(2);
  tried[0].best = tried[1].best = true;
  tried[1].seconds = seconds;
  plan.collectives.clear();
  predictStep(graph, /*least=*/seconds / 2, plan, tried);
  EXPECT_NEAR(plan.predictedStepSeconds, seconds, 1e-9 * seconds);
  EXPECT_NEAR(plan.gap, 0.5, 1e-6);
  EXPECT_FALSE(plan.collectives.empty());
  PlanCost cost(plan, graph);
  EXPECT_NEAR(stepSeconds(cost, plan), seconds, 1e-9 * seconds);
}

} // namespace
