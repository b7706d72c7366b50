//===- PlanTest.cpp - Plans that are legal, and those that are not --------===//

#include "autopar/Planning/Plan/Plan.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::string complaintOf(const Plan &plan, const ModelGraph &graph) {
  return toString(verify(plan, graph));
}

TEST(Plan, WhatIsLegalIsVerified) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 2);
  EXPECT_EQ(complaintOf(plan, graph), "");
  plan.ops[0].assignment.front() = Choice{Choice::Split, 0};
  EXPECT_EQ(complaintOf(plan, graph), "");
  EXPECT_EQ(complaintOf(replicatedPlan(graph, 3, 3), graph), "");
}

TEST(Plan, WhatIsIllegalIsNamed) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 2);
  plan.ops[0].assignment.front() = Choice{Choice::Split, 7};
  EXPECT_NE(complaintOf(plan, graph).find("node_h"), std::string::npos);
  plan = replicatedPlan(graph, 3, 3);
  plan.ops[0].stage = 2; // its readers are in earlier stages
  EXPECT_NE(complaintOf(plan, graph).find("stage"), std::string::npos);
  plan = replicatedPlan(graph, 2);
  plan.microBatches = 4;
  EXPECT_NE(complaintOf(plan, graph).find("micro_batches"), std::string::npos);
  EXPECT_NE(complaintOf(replicatedPlan(graph, 2), twoLayers(16)), "");
}

TEST(Plan, IsAlignedByName) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 2);
  std::reverse(plan.ops.begin(), plan.ops.end());
  std::reverse(plan.values.begin(), plan.values.end());
  EXPECT_EQ(toString(alignWith(plan, graph)), "");
  for (auto [planned, op] : zip_equal(plan.ops, graph.ops))
    EXPECT_EQ(planned.name, op.name);
  for (auto [planned, value] : zip_equal(plan.values, graph.values))
    EXPECT_EQ(planned.name, value.name);
  plan.ops.front().name = "unknown";
  EXPECT_NE(toString(alignWith(plan, graph)), "");
}

/// Four stages, three micro-batches, of which the slowest takes two of five
/// seconds.
TEST(Plan, StepsPassStages) {
  Pipeline pipeline{4, 3};
  EXPECT_EQ(pipeline.stagesAtOnce(), 3);
  EXPECT_EQ(pipeline.stepSeconds(5, 2), 5 + 2 * 2);
  pipeline.objective = Objective::Throughput;
  EXPECT_EQ(pipeline.stagesAtOnce(), 4);
  EXPECT_EQ(pipeline.stepSeconds(5, 2), 3 * 2);
}

/// A device of a stage may hold what its own part of the cluster has, unless
/// the user asked for less.
TEST(Plan, StagesHaveTheMemoryOfTheirDevices) {
  Plan plan;
  plan.cluster = cantFail(parseCluster("1x1:l4"));
  Cluster large = cantFail(parseCluster("1x1:h100-80gb"));
  plan.cluster.nodes.push_back(large.nodes.front());
  plan.stages = 2;
  EXPECT_EQ(plan.memoryLimit(1), large.memoryBytes());
  EXPECT_LT(plan.memoryLimit(0), plan.memoryLimit(1));
  plan.request["memory_limit"] = 1000;
  EXPECT_EQ(plan.memoryLimit(0), 1000);
}

/// An op of a parameter runs where it is read, whatever stage the plan names.
TEST(Plan, RepeatedOpsRunWhereTheyAreRead) {
  SmallModel model;
  unsigned x = model.input("x", {8, 64});
  unsigned w = model.elementwise("v", model.parameter("w", {64, 64}));
  ModelGraph graph =
      model.finish(model.matmul("z", model.matmul("y", x, w), w));
  Plan plan = replicatedPlan(graph, 3, 3);
  EXPECT_EQ(stagesThatRun(graph, plan)[0], (StageList{1, 2}));
  plan.ops[0].stage = 2; // later than a reader
  EXPECT_EQ(toString(verify(plan, graph)), "");
}

TEST(Plan, ObjectivesAreParsedOrExplained) {
  for (StringRef name : kObjectives)
    EXPECT_EQ(stringifyObjective(cantFail(parseObjective(name))), name);
  std::string complaint = toString(parseObjective("latencies").takeError());
  EXPECT_NE(complaint.find("write one of latency, throughput, step"),
            std::string::npos)
      << complaint;
}

} // namespace
