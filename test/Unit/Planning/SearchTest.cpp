//===- SearchTest.cpp - Whole plans of a small model ----------------------===//

#include "autopar/Planning/Search/Search.h"
#include "Requests.h"
#include "SmallModel.h"
#include "autopar/Planning/Constraints/MicroBatches.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Planning/Solver/Solver.h"
#include "lib/Planning/Search/Stages.h"
#include "gtest/gtest.h"
#include <set>

using namespace autopar;
using namespace llvm;

namespace {

std::string complaintOf(const ModelGraph &graph, const PlanRequest &request) {
  Expected<Plan> plan = searchPlan(graph, request);
  return plan ? "" : toString(plan.takeError());
}

Sharding shardingOf(const Plan &plan, StringRef name) {
  for (const PlannedValue &value : plan.values)
    if (value.name == name)
      return value.sharding;
  ADD_FAILURE() << "no value " << name.str();
  return {};
}

//===----------------------------------------------------------------------===//
// The best
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

TEST(MicroBatches, CountsDivideTheBatch) {
  ModelGraph graph = twoLayers(24);
  EXPECT_EQ(cantFail(microBatchCounts(graph, /*stages=*/2, /*pinned=*/0)),
            (SmallVector<int64_t>{1, 2, 3, 4, 6, 8}));
  EXPECT_EQ(cantFail(microBatchCounts(graph, 2, /*pinned=*/12)),
            (SmallVector<int64_t>{12}));
  EXPECT_EQ(toString(microBatchCounts(graph, 2, 5).takeError()),
            "the batch of 24 cannot be cut into 5 micro-batches; choose one "
            "of 1, 2, 3, 4, 6, 8, 12, 24");
}

/// Of the outputs rather than of what all rows share; next values of states and
/// gradients say nothing.
TEST(MicroBatches, TheBatchIsTheOutputsRows) {
  auto batchOf = [](ArrayRef<int64_t> rows, int64_t rowsOut,
                    std::string &batched) {
    SmallModel model;
    std::vector<unsigned> inputs;
    for (auto [index, count] : enumerate(rows))
      inputs.push_back(
          model.input("x" + std::to_string(index), {count, rowsOut}));
    ModelGraph graph = model.finish(model.matmul(
        "y", model.parameter("w", {rowsOut, rows.front()}), inputs.front()));
    int64_t batch = batchSize(graph);
    batched.clear();
    for (unsigned input : inputs)
      batched += hasBatch(graph.values[input], batch) ? "+" : "-";
    return batch;
  };
  std::string batched;
  EXPECT_EQ(batchOf({8, 5}, 8, batched), 8);
  EXPECT_EQ(batched, "+-");
  EXPECT_EQ(batchOf({8, 4}, 8, batched), 8);
  EXPECT_EQ(batched, "+-");
  EXPECT_EQ(batchOf({6, 48, 48, 1}, 6, batched), 6);
  EXPECT_EQ(batched, "+---");
  EXPECT_EQ(batchOf({6, 4}, 24, batched), 4); // the least of equals
  EXPECT_EQ(batchOf({6, 12}, 24, batched), 6);
  EXPECT_EQ(batchOf({6, 4}, 7, batched), 4);
  EXPECT_EQ(batchOf({1, 1}, 7, batched), 1);
  EXPECT_EQ(batched, "--");

  SmallModel model;
  unsigned x = model.input("x", {8, 64});
  unsigned q = model.input("q", {64, 64});
  ModelGraph step = model.finish(model.matmul("y", x, q));
  EXPECT_EQ(batchSize(step), 8);
  step.values.back().output = false;
  for (bool isNext : {true, false}) {
    GraphValue weight = step.values[q];
    weight.source = ValueSource::Op;
    weight.isNext = isNext;
    weight.output = weight.isGradient = !isNext;
    step.stepResults.push_back(step.values.size());
    step.values.push_back(std::move(weight));
  }
  EXPECT_EQ(batchSize(step), 8);
}

TEST(MicroBatches, TheBatchIsCutOpByOp) {
  ModelGraph graph = twoLayers(8);
  for (const AxisDemand &demand : cantFail(microBatchDemands(graph, 4)))
    EXPECT_EQ(demand, (AxisDemand{Choice{Choice::Split, 0}}));
}

/// What needs all parts at once is computed whole, with all before it; the rest
/// is cut.
TEST(MicroBatches, WhatMixesTheBatchIsWhole) {
  SmallModel model;
  unsigned x = model.input("x", {8, 64}), z = model.input("z", {8, 64});
  unsigned w = model.parameter("w", {64, 64});
  model.mixBatch("m", model.elementwise("before", x));
  unsigned y = model.matmul("y", z, w);
  ModelGraph graph = model.finish(y);
  std::vector<AxisDemand> demands = cantFail(microBatchDemands(graph, 4));
  EXPECT_EQ(demands[0], AxisDemand{Choice()});
  EXPECT_EQ(demands[1], AxisDemand{Choice()});
  EXPECT_EQ(demands[2], (AxisDemand{Choice{Choice::Split, 0}}));
  SmallModel alone;
  x = alone.input("x", {8, 64});
  EXPECT_EQ(
      toString(microBatchDemands(alone.finish(alone.mixBatch("m", x)), 4)
                   .takeError()),
      "op node_m needs the whole batch, and so does all before it: the model "
      "cannot be cut into 4 micro-batches");
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

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

TEST(Search, ConstraintsAreMetAndCostNoLess) {
  ModelGraph graph = twoLayers(512);
  PlanRequest request = requestOf(2);
  Plan free = cantFail(searchPlan(graph, request));
  for (StringRef list :
       {R"([{"value": "w1", "sharding": [[], ["all"]]}])",
        R"([{"value": "x", "sharding": [["all"], []], "forbid": true}])",
        R"([{"node": "node_y", "strategy": {"all": "split 1"}}])",
        R"([{"node": "*", "strategy": {"all": "replicated"}}])"}) {
    request.constraints = constraintsOf(list);
    Plan plan = cantFail(searchPlan(graph, request));
    EXPECT_EQ(toString(verify(plan, graph, request.constraints)), "")
        << list.str();
    EXPECT_GE(plan.predictedStepSeconds, free.predictedStepSeconds * (1 - 1e-9))
        << list.str();
  }
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

/// Four stages on two nodes, 11 equal ops, every other value wide: the network
/// gets what is narrow, and three ops a stage leave it so.
TEST(Search, StagesAreCutByTheLinksBetweenThem) {
  constexpr int64_t kBatch = 4096, kNarrow = 64, kWide = 1024;
  constexpr double kOpSeconds = 0.01; // a wide value takes more on the network
  SmallModel model;
  unsigned value = model.input("x", {kBatch, kNarrow});
  unsigned up = model.parameter("up", {kNarrow, kWide});
  unsigned down = model.parameter("down", {kWide, kNarrow});
  for (unsigned op = 0; op < 11; ++op)
    value = model.matmul("v" + std::to_string(op), value, op % 2 ? down : up);
  ModelGraph graph = model.finish(value);
  Plan plan;
  plan.cluster = cantFail(parseCluster("2x2:a100-80gb@1"));
  plan.mesh = Mesh({{"x", 1}});
  plan.stages = 4;
  plan.objective = Objective::Throughput;
  plan.ops.resize(graph.ops.size());
  plan.values.resize(graph.values.size());
  for (PlannedValue &planned : plan.values)
    planned.sharding = Sharding::replicated(2);
  std::vector<double> seconds(graph.ops.size(), kOpSeconds);
  cantFail(cutStages(graph, {seconds}, /*memoryLimit=*/0, Limits(), plan));
  EXPECT_EQ(plan.ops[5].stage, 1);
  EXPECT_EQ(plan.ops[6].stage, 2);
  EXPECT_NEAR(plan.predictedStepSeconds, 3 * kOpSeconds, 0.0015);
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

TEST(Search, MeshesOfConstraints) {
  ModelGraph graph = twoLayers(512);
  PlanRequest request = requestOf(4);
  request.constraints = constraintsOf(R"([{"mesh": "a=2,b=2"}])");
  EXPECT_EQ(cantFail(searchPlan(graph, request)).mesh,
            Mesh({{"a", 2}, {"b", 2}}));
  request.constraints = constraintsOf(R"([{"mesh": "x=4", "forbid": true}])");
  EXPECT_EQ(cantFail(searchPlan(graph, request)).mesh.axes().size(), 2u);
  request.constraints = constraintsOf(
      R"([{"mesh": "x=4", "forbid": true}, {"mesh": "x=2,y=2", "forbid": true}])");
  EXPECT_GT(cantFail(searchPlan(graph, request)).stages, 1);
  request.mesh = {{"x", 4}};
  EXPECT_EQ(complaintOf(graph, request),
            "constraints file demands.json: no mesh is left: each is "
            "forbidden, or --mesh and the constraints differ");
  request.mesh.clear();
  request.constraints = constraintsOf(R"([{"mesh": "a=4"}, {"mesh": "b=4"}])");
  EXPECT_EQ(complaintOf(graph, request),
            "constraints file demands.json: constraint 2 (mesh): constraint 1 "
            "pins another mesh");
}

/// What cannot be met names the constraint and what the op could do.
TEST(Search, DeadEndsOfConstraintsAreErrors) {
  ModelGraph graph = twoLayers(512);
  PlanRequest request = requestOf(2, "auto", "x=2");
  for (auto [list, message] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {R"([{"node": "node_r", "strategy": {"x": "split 7"}}])",
            "constraint 1 (node 'node_r')"},
           {R"([{"value": "h", "sharding": [["x"], []]},
                {"value": "h", "sharding": [[], ["x"]]}])",
            "as constraint 2 says"},
           {R"([{"value": "nothing", "sharding": [[]]}])",
            "no tensor of the model has this name"},
           {R"([{"value": "h", "sharding": [["z"], []]}])",
            "names axis 'z'; this mesh has 'x'"}}) {
    request.constraints = constraintsOf(list);
    std::string complaint = complaintOf(graph, request);
    EXPECT_NE(complaint.find(message), std::string::npos) << complaint;
  }
}

} // namespace
