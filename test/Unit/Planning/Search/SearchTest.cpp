//===- SearchTest.cpp - Whole plans of a small model ----------------------===//

#include "autopar/Planning/Search/Search.h"
#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Planning/Solver/Solver.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"
#include <set>

using namespace autopar;
using namespace llvm;

namespace {

Sharding shardingOf(const Plan &plan, StringRef name) {
  for (const PlannedValue &value : plan.values)
    if (value.name == name)
      return value.sharding;
  ADD_FAILURE() << "no value " << name.str();
  return {};
}

/// What the search is free to choose is no slower than anything that can be
/// asked for, and its bound is below all of it.
TEST(Search, NothingAskedForIsFaster) {
  for (int64_t batch : {2, 8, 512}) {
    ModelGraph graph = twoLayers(batch);
    Plan best = cantFail(searchPlan(graph, requestOf(4)));
    EXPECT_LE(best.lowerBoundSeconds, best.predictedStepSeconds);
    EXPECT_DOUBLE_EQ(best.gap,
                     1 - best.lowerBoundSeconds / best.predictedStepSeconds);
    for (auto [strategies, mesh] :
         std::initializer_list<std::pair<StringRef, StringRef>>{
             {"replicated", "x=4"},
             {"data", "data=4"},
             {"row", "r=4"},
             {"column", "c=4"},
             {"data,tensor", "data=2,tensor=2"},
             {"auto", "x=2,y=2"},
             {"auto", "x=4"}}) {
      Expected<Plan> asked = searchPlan(graph, requestOf(4, strategies, mesh));
      if (!asked) { // fewer rows than devices
        consumeError(asked.takeError());
        continue;
      }
      EXPECT_GE(asked->predictedStepSeconds, best.lowerBoundSeconds)
          << strategies.str();
      EXPECT_GE(asked->predictedStepSeconds,
                best.predictedStepSeconds * (1 - 1e-9))
          << strategies.str();
    }
  }
}

/// The problem of a model on a mesh, solved, is the least over all combinations
/// of strategies and shardings.
TEST(Search, ProblemOfAModelIsSolvedExactly) {
  ModelGraph graph = twoLayers(512);
  Cluster cluster = cantFail(clusterOfRanks(2));
  OpDemands demands(graph,
                    std::vector<OpDemand>(graph.ops.size(), OpDemand(1)));
  PlanQuestion question{graph, cluster, Mesh({{"x", 2}}), demands, 0, {}};
  auto problem = cantFail(PlanProblem::build(question));
  Solution oracle = cantFail(solveExhaustively(problem->problem));
  Solution found = cantFail(Solver(problem->problem).solve());
  EXPECT_DOUBLE_EQ(found.seconds, oracle.seconds);
  EXPECT_EQ(found.gap(), 0);
  EXPECT_GT(problem->problem.nodes.size(), 4u);
}

/// Each trial is told of once, with what its best plan takes and a bound of
/// that; one of them is the plan.
TEST(Search, TellsOfEachTrialOnce) {
  std::vector<SearchTrial> tried;
  Plan plan =
      cantFail(searchPlan(twoLayers(512), requestOf(4), nullptr, &tried));
  std::set<std::string> names;
  unsigned best = 0;
  for (const SearchTrial &trial : tried) {
    EXPECT_TRUE(names.insert(trial.name).second) << trial.name;
    best += trial.best;
    if (trial.best) {
      EXPECT_EQ(trial.seconds, plan.predictedStepSeconds);
    }
    if (!trial.complaint.empty())
      continue;
    EXPECT_GE(trial.seconds, plan.predictedStepSeconds);
    EXPECT_LE(trial.lowerBoundSeconds, trial.seconds);
  }
  EXPECT_EQ(best, 1u);
}

/// Many rows: the batch is split and no weight is. One row and wide weights:
/// the weights are.
TEST(Search, SplitsWhatIsLarge) {
  Plan plan = cantFail(searchPlan(twoLayers(4096), requestOf(2)));
  EXPECT_EQ(shardingOf(plan, "x").dims[0].subAxes.size(), 1u);
  EXPECT_TRUE(shardingOf(plan, "w1").isReplicated());
  EXPECT_TRUE(plan.collectives.empty());
  SmallModel model;
  unsigned x = model.input("x", {1, 4096});
  unsigned w = model.parameter("w", {4096, 4096});
  plan =
      cantFail(searchPlan(model.finish(model.matmul("y", x, w)), requestOf(2)));
  EXPECT_FALSE(shardingOf(plan, "w").isReplicated());
}

/// What takes no memory does not keep a plan from fitting: parameters that
/// nothing reads, inputs that are read where the host has them.
TEST(Search, WhatTakesNoMemoryAlwaysFits) {
  SmallModel model;
  unsigned x = model.input("x", {64, 512});
  model.parameter("unread", {1024, 1024});
  unsigned w = model.parameter("w", {512, 8});
  ModelGraph graph = model.finish(model.matmul("y", x, w));
  PlanRequest request = requestOf(2);
  Plan plan = cantFail(searchPlan(graph, request));
  EXPECT_LT(plan.predictedPeakMemoryBytes, 64 * 512 * 4);
  request.memoryLimit = plan.predictedPeakMemoryBytes;
  EXPECT_EQ(cantFail(searchPlan(graph, request)).predictedStepSeconds,
            plan.predictedStepSeconds);
}

/// The less memory, the slower, and always within it; then an error. Where
/// sending is slow each device has all weights as long as they fit, also where
/// the problem's rows leave out what loading them takes.
TEST(Search, TakesTheFastestPlanThatFits) {
  ModelGraph graph = twoLayers(16);
  PlanRequest request;
  request.cluster = cantFail(parseCluster("2x1:cpu@0.1"));
  Plan last = cantFail(searchPlan(graph, request));
  EXPECT_TRUE(shardingOf(last, "w1").isReplicated());
  unsigned tighter = 0;
  while (true) {
    request.memoryLimit = last.predictedPeakMemoryBytes - 1;
    Expected<Plan> plan = searchPlan(graph, request);
    if (!plan) {
      std::string message = toString(plan.takeError());
      EXPECT_NE(message.find("no plan found within the memory limit of"),
                std::string::npos)
          << message;
      EXPECT_NE(message.find(" more: there is a plan with a limit of "),
                std::string::npos)
          << message;
      break;
    }
    EXPECT_LE(plan->predictedPeakMemoryBytes, request.memoryLimit);
    EXPECT_GE(plan->predictedStepSeconds,
              last.predictedStepSeconds * (1 - 1e-9));
    last = std::move(*plan);
    ASSERT_LT(++tighter, 100u);
  }
  EXPECT_GE(tighter, 2u);
  EXPECT_FALSE(shardingOf(last, "w1").isReplicated());
}

TEST(Search, StagesGetTheirMicroBatches) {
  ModelGraph graph = twoLayers(8);
  PlanRequest request = requestOf(2, "layer", "");
  request.microBatches = 4;
  Plan plan = cantFail(searchPlan(graph, request));
  EXPECT_EQ(plan.stages, 2);
  EXPECT_EQ(plan.microBatches, 4);
  EXPECT_EQ(plan.mesh.timeCount(), 4);
  EXPECT_EQ(plan.ops.front().stage, 0);
  EXPECT_EQ(plan.ops.back().stage, 1);
  EXPECT_EQ(plan.gap, 0); // so small a model is searched to the end
  request.microBatches = 0;
  Plan searched = cantFail(searchPlan(graph, request));
  EXPECT_LE(searched.predictedStepSeconds, plan.predictedStepSeconds);
  request.microBatches = 3;
  EXPECT_NE(complaintOf(graph, request).find("cannot be cut into 3"),
            std::string::npos);
  request = requestOf(2);
  request.microBatches = 2;
  EXPECT_EQ(cantFail(searchPlan(graph, request)).stages, 2);
  request.mesh = {{"x", 2}};
  EXPECT_EQ(complaintOf(graph, request),
            "--micro-batches needs stages: add layer to --strategy or to "
            "--mesh");
}

/// Where steps overlap none takes longer than alone, and no plan asked for is
/// better than the one found.
TEST(Search, ThroughputOverlapsSteps) {
  for (int64_t batch : {1, 8, 512}) {
    ModelGraph graph = twoLayers(batch);
    PlanRequest request = requestOf(4);
    double latency = cantFail(searchPlan(graph, request)).predictedStepSeconds;
    request.objective = Objective::Throughput;
    Plan best = cantFail(searchPlan(graph, request));
    EXPECT_EQ(best.objective, Objective::Throughput);
    EXPECT_LE(best.predictedStepSeconds, latency * (1 + 1e-9));
    EXPECT_LE(best.lowerBoundSeconds, best.predictedStepSeconds);
    for (StringRef mesh : {"layer=2,x=2", "layer=2,data=2"}) {
      PlanRequest asked = requestOf(
          4, mesh.contains("data") ? "layer,data" : "layer,auto", mesh);
      asked.objective = Objective::Throughput;
      Expected<Plan> staged = searchPlan(graph, asked);
      if (!staged) { // fewer rows than devices
        consumeError(staged.takeError());
        continue;
      }
      EXPECT_GE(staged->predictedStepSeconds,
                best.predictedStepSeconds * (1 - 1e-9))
          << mesh.str();
      std::vector<StageCost> stages = stageCosts(*staged, graph);
      double slowest = 0;
      for (const StageCost &stage : stages)
        slowest = std::max(slowest, stage.compute + stage.communication +
                                        stage.messages);
      EXPECT_NEAR(staged->predictedStepSeconds / slowest, 1, 1e-9);
    }
  }
}

/// Stages of a device each, on which nothing is decided: ops that cannot be cut
/// and the messages between them are all that there is to the bound.
TEST(Search, TheBoundOfStagesKnowsCutsAndMessages) {
  SmallModel model;
  unsigned value = model.input("x", {4096, 1024});
  for (unsigned op = 0; op < 10; ++op)
    value =
        model.matmul("v" + std::to_string(op), value,
                     model.parameter("w" + std::to_string(op), {1024, 1024}));
  ModelGraph graph = model.finish(value);
  PlanRequest request = requestOf(4, "layer", "");
  request.cluster = cantFail(parseCluster("2x2:a100-80gb@10"));
  request.objective = Objective::Throughput;
  Plan plan = cantFail(searchPlan(graph, request));
  std::vector<StageCost> stages = stageCosts(plan, graph);
  EXPECT_GT(stages[1].messages, stages[0].messages);
  // Ten ops in four stages: one has three of them.
  EXPECT_LT(plan.gap, 1e-4);
}

PlanRequest dataOnFourGpus() {
  PlanRequest request = requestOf(4, "data", "");
  request.cluster = cantFail(parseCluster("1x4:a100-80gb"));
  return request;
}

/// Plans under ever less memory, until there is none.
std::vector<Plan> plansUnderLessMemory(const ModelGraph &graph) {
  PlanRequest request = dataOnFourGpus();
  std::vector<Plan> plans;
  for (;;) {
    Expected<Plan> plan = searchPlan(graph, request);
    if (!plan) {
      consumeError(plan.takeError());
      return plans;
    }
    plans.push_back(std::move(*plan));
    request.memoryLimit = plans.back().predictedPeakMemoryBytes - 1;
  }
}

/// A training step makes copies again instead of holding them from task to
/// task, but only where that saves memory that it must save.
TEST(Search, MakesCopiesAgainWhereMemoryIsShort) {
  ModelGraph step = layersAndGradients(8, 64, 256);
  step.table = &targetTable(kTargetCuda);
  ModelGraph inference = step;
  for (GraphOp &op : inference.ops)
    op.task = Task::Forward;
  auto regathers = [](const Plan &plan) {
    size_t count = 0;
    for (const PlannedOp &op : plan.ops)
      count += op.regathers.size();
    return count;
  };
  std::vector<Plan> trained = plansUnderLessMemory(step),
                    inferred = plansUnderLessMemory(inference);
  EXPECT_EQ(regathers(trained.front()), 0u);
  EXPECT_GT(regathers(trained.back()), 0u);
  EXPECT_LT(trained.back().predictedPeakMemoryBytes,
            inferred.back().predictedPeakMemoryBytes);
  EXPECT_GT(trained.back().predictedStepSeconds,
            trained.front().predictedStepSeconds);
  for (const Plan &plan : inferred)
    EXPECT_EQ(regathers(plan), 0u);
  // With as much memory the step takes no longer than without regathers.
  for (const Plan &plan : inferred) {
    PlanRequest request = dataOnFourGpus();
    request.memoryLimit = plan.predictedPeakMemoryBytes;
    EXPECT_LE(cantFail(searchPlan(step, request)).predictedStepSeconds,
              plan.predictedStepSeconds * (1 + 1e-9));
  }
}

} // namespace
