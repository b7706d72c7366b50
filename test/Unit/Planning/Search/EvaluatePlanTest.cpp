//===- EvaluatePlanTest.cpp - What a trial's choices really take and hold -===//

#include "lib/Planning/Search/EvaluatePlan.h"
#include "Meshes.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"
#include <random>

using namespace autopar;
using namespace llvm;

namespace {

/// Whatever was evaluated before, a choice comes to the same seconds and bytes,
/// and makes the same plan.
TEST(EvaluatePlan, DependsOnTheChoiceAlone) {
  ModelGraph graph = twoLayers(512);
  for (int64_t stages : {1, 2}) {
    Trial trial{cantFail(clusterOfRanks(4)),
                freeMesh(stages == 1 ? "x=2,y=2" : "x=2")};
    trial.candidate.stages = stages;
    SharedWork shared;
    PlanQuestion question{graph,
                          trial.cluster,
                          meshOf(trial),
                          cantFail(demandsOf(graph, trial, shared)),
                          0,
                          {}};
    question.pipeline = trial.pipeline();
    auto built = cantFail(PlanProblem::build(question));
    PlanEvaluator busy(question, *built, trial, /*memoryLimit=*/0,
                       /*regathers=*/false);
    std::mt19937 random(1);
    unsigned legal = 0;
    for (unsigned attempt = 0; attempt < 50; ++attempt) {
      std::vector<unsigned> choice;
      for (const ProblemNode &node : built->problem.nodes)
        choice.push_back(node.deferred ? 0 : random() % node.choices());
      if (built->problem.secondsOf(choice) == kIllegal)
        continue;
      ++legal;
      Evaluation told = busy.evaluate(choice);
      PlanEvaluator fresh(question, *built, trial, 0, false);
      Evaluation alone = fresh.evaluate(choice);
      EXPECT_EQ(told.seconds, alone.seconds);
      EXPECT_EQ(told.bytes, alone.bytes);
      std::optional<Plan> plan = busy.planOf(choice),
                          other = fresh.planOf(choice);
      ASSERT_TRUE(plan && other);
      EXPECT_EQ(plan->predictedStepSeconds, told.seconds);
      EXPECT_EQ(other->predictedStepSeconds, told.seconds);
      for (auto [a, b] : zip_equal(plan->ops, other->ops)) {
        EXPECT_EQ(a.assignment, b.assignment);
        EXPECT_EQ(a.stage, b.stage);
      }
    }
    EXPECT_GT(legal, 0u);
  }
}

/// One byte is too little for any plan.
TEST(EvaluatePlan, WhatDoesNotFitHasNoPlan) {
  ModelGraph graph = twoLayers(512);
  Trial trial{cantFail(clusterOfRanks(2)), freeMesh("x=2")};
  SharedWork shared;
  PlanQuestion question{graph,
                        trial.cluster,
                        meshOf(trial),
                        cantFail(demandsOf(graph, trial, shared)),
                        1,
                        {}};
  auto built = cantFail(PlanProblem::build(question));
  PlanEvaluator evaluator(question, *built, trial, /*memoryLimit=*/1,
                          /*regathers=*/false);
  std::vector<unsigned> choice(built->problem.nodes.size(), 0);
  EXPECT_FALSE(evaluator.isTooFull());
  EXPECT_GT(evaluator.evaluate(choice).bytes, 1);
  EXPECT_TRUE(evaluator.isTooFull());
  EXPECT_FALSE(evaluator.planOf(choice));
}

} // namespace
