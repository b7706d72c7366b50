//===- StagePlacesTest.cpp - Where stages lie, and what they take there ---===//

#include "autopar/Planning/Search/StagePlaces.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(StagePlaces, StagesOnNodesAlikeAreOfAKind) {
  Cluster even = cantFail(parseCluster("2x4:a100-80gb"));
  for (int64_t stages : {1, 2, 4, 8})
    EXPECT_EQ(StagePlaces(even, Pipeline{stages}).kinds.size(), 1u) << stages;
  // The second of three stages is on both nodes.
  StagePlaces uneven(cantFail(parseCluster("2x3:a100-80gb")), Pipeline{3});
  EXPECT_EQ(uneven.kindOf, (std::vector<unsigned>{0, 1, 0}));
  EXPECT_EQ(uneven.of(1).nodes.size(), 2u);
}

TEST(StagePlaces, EachStageHasItsTypeAndMemory) {
  Cluster mixed = cantFail(parseCluster("1x2:a100-80gb"));
  append_range(mixed.nodes, cantFail(parseCluster("1x2:l4")).nodes);
  StagePlaces places(mixed, Pipeline{4, 4});
  EXPECT_EQ(places.kindOf, (std::vector<unsigned>{0, 0, 1, 1}));
  EXPECT_EQ(places.of(3).slowest().name, "l4");
  EXPECT_GT(places.memoryLimit(0, /*asked=*/0),
            places.memoryLimit(3, /*asked=*/0));
  EXPECT_EQ(places.memoryLimit(3, /*asked=*/1000), 1000);
}

/// Half of a node of four ranks on two cores is slower than a node of two ranks
/// on two cores, though both are two ranks: each has prices of its own. A
/// machine may be described in several ways.
TEST(StagePlaces, PartsOfNodesKeepTheirShare) {
  Cluster shared = cantFail(parseCluster("1x4:cpu"));
  shared.nodes.front().cores = 2;
  NodeGroup own = shared.nodes.front();
  own.devices = 2;
  shared.nodes.push_back(own);
  StagePlaces places(shared, Pipeline{3, 3});
  EXPECT_EQ(places.kindOf, (std::vector<unsigned>{0, 0, 1}));
  EXPECT_DOUBLE_EQ(2 * places.of(0).slowest().fp32Flops,
                   places.of(2).slowest().fp32Flops);
  PlanRequest request = requestOf(6, "layer,data", "layer=3,data=2");
  request.cluster = shared;
  ModelGraph graph = twoLayers(512);
  double seconds = cantFail(searchPlan(graph, request)).predictedStepSeconds;
  request.cluster.nodes.back().cores = 3; // more than there are ranks
  EXPECT_EQ(cantFail(searchPlan(graph, request)).predictedStepSeconds, seconds);
}

/// Stages that share cores are as fast as the cores are busy once there is work
/// for all, or as they would be on cores of their own; seconds are those at
/// their shares.
TEST(StagePlaces, StagesTakeTurnsOnCores) {
  auto step = [](int64_t cores, Pipeline pipeline, ArrayRef<double> stages) {
    Cluster node = cantFail(parseCluster("1x4:cpu"));
    node.nodes.front().cores = cores;
    StagePlaces places(node, pipeline);
    double seconds =
        places.stepSeconds(stages, SmallVector<double>(stages.size(), 0));
    double sum = 0;
    for (double stage : stages)
      sum += stage;
    EXPECT_LE(places.leastShare() * sum * double(pipeline.microBatches),
              seconds * (1 + 1e-12));
    return seconds;
  };
  // Cores of their own: 8 micro-batches follow each other through 4 stages.
  EXPECT_DOUBLE_EQ(step(0, {4, 8}, {1, 1, 1, 1}), 11);
  EXPECT_DOUBLE_EQ(step(4, {4, 8}, {1, 1, 1, 1}), 11);
  // On two, at half of a core each: 32 times half of 2 seconds on two cores, of
  // which one has nothing to do in the first and in the last second.
  EXPECT_DOUBLE_EQ(step(2, {4, 8}, {2, 2, 2, 2}), 17);
  // On three: two idle for a second, one for another, at both ends.
  EXPECT_DOUBLE_EQ(step(3, {4, 9}, {4. / 3, 4. / 3, 4. / 3, 4. / 3}), 14);
  // One stage is 13 of 16 seconds on whole cores: it waits for none.
  EXPECT_DOUBLE_EQ(step(2, {4, 8}, {2, 26, 2, 2}), 16 + 7 * 13);
  // One micro-batch has whole cores, two are on both.
  EXPECT_DOUBLE_EQ(step(2, {4, 1}, {1, 2, 3, 4}), 10);
  EXPECT_DOUBLE_EQ(step(2, {4, 2}, {1, 2, 3, 4}), 14);
  EXPECT_DOUBLE_EQ(step(1, {4, 8}, {4, 4, 4, 4}), 32);
  // Steps that overlap.
  EXPECT_DOUBLE_EQ(step(0, {4, 2, Objective::Throughput}, {1, 2, 3, 4}), 8);
  EXPECT_DOUBLE_EQ(step(2, {4, 2, Objective::Throughput}, {2, 2, 2, 2}), 4);
  // Stages of two ranks each.
  EXPECT_DOUBLE_EQ(step(2, {2, 4}, {2, 2}), 8);
  // On two nodes of one core each: 16 times two seconds, and two until the
  // first micro-batch comes to the second node, or since the last one left the
  // first.
  Cluster nodes = cantFail(parseCluster("2x2:cpu"));
  nodes.nodes.front().cores = 1;
  EXPECT_DOUBLE_EQ(StagePlaces(nodes, {4, 16})
                       .stepSeconds({2, 2, 2, 2}, SmallVector<double>(4, 0)),
                   16 * 2 + 2);
  // Short ends leave no core idle for long.
  EXPECT_DOUBLE_EQ(step(2, {4, 8}, {2, 4, 4, 6}), 8 * 4 + 0.5 * (1 + 3));
}

/// What is known of one type's memory is no limit of the others'.
TEST(StagePlaces, UnknownMemoryIsNoLimit) {
  Cluster mixed = cantFail(parseCluster("1x2:cpu"));
  mixed.nodes.push_back(mixed.nodes.front());
  mixed.nodes.front().type.name = "other";
  mixed.nodes.front().type.memoryBytes = 0;
  EXPECT_EQ(mixed.memoryBytes(), mixed.nodes.back().type.memoryBytes);
  StagePlaces places(mixed, Pipeline{2, 2});
  EXPECT_EQ(places.memoryLimits(/*asked=*/0), 0);
  EXPECT_EQ(places.memoryLimits(/*asked=*/100), 200);
  Plan plan;
  plan.predictedStageMemoryBytes = {int64_t(1) << 50, mixed.memoryBytes() + 7};
  plan.stages = 2;
  EXPECT_EQ(excessBytes(plan, places, /*asked=*/0), 7);
}

/// The stage on the faster device gets more of a chain of equal layers.
TEST(StagePlaces, FasterDevicesGetMoreOps) {
  constexpr int kLayers = 12;
  ModelGraph graph = chainOf(kLayers);
  PlanRequest request = requestOf(2, "layer", "");
  request.cluster = cantFail(parseCluster("2x1:l4"));
  request.cluster.nodes.front().count = 1;
  request.cluster.nodes.push_back(request.cluster.nodes.front());
  DeviceType &fast = request.cluster.nodes.front().type;
  fast.name = "twice";
  for (double *rate : {&fast.fp32Flops, &fast.tf32Flops, &fast.fp16Flops,
                       &fast.bf16Flops, &fast.memoryBytesPerSecond})
    *rate *= 2;
  Plan plan = cantFail(searchPlan(graph, request));
  EXPECT_EQ(count_if(plan.ops, [](const auto &op) { return op.stage == 0; }),
            kLayers * 2 / 3);
}

} // namespace
