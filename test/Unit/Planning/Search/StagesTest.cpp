//===- StagesTest.cpp - A graph cut into pipeline stages ------------------===//

#include "lib/Planning/Search/Stages.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// Four stages on two nodes, 11 equal ops, every other value wide: the network
/// gets what is narrow, and three ops a stage leave it so.
TEST(Stages, StagesAreCutByTheLinksBetweenThem) {
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

} // namespace
