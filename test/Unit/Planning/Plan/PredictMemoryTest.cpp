//===- PredictMemoryTest.cpp - What a device of each stage will hold ------===//

#include "autopar/Planning/Plan/PredictMemory.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// Half of each weight is half of what they hold.
TEST(PredictMemory, SplitWeightsHoldLess) {
  ModelGraph graph = chainOf(4);
  Plan whole = replicatedPlan(graph, 2);
  predictMemory(graph, whole);
  Plan split = replicatedPlan(graph, 2);
  for (size_t index = 0; index < graph.values.size(); ++index)
    if (graph.values[index].persistent)
      split.values[index].sharding.dims[0].subAxes = {0};
  predictMemory(graph, split);
  constexpr int64_t kWeights = 4 * 1024 * 1024 * 4;
  EXPECT_GE(whole.predictedPeakMemoryBytes, kWeights);
  EXPECT_LT(split.predictedPeakMemoryBytes, whole.predictedPeakMemoryBytes);
}

/// A stage holds the weights of its ops alone.
TEST(PredictMemory, StagesShareTheWeightsOut) {
  SmallModel model;
  unsigned x = model.input("x", {8, 1024});
  for (const char *name : {"a", "b"})
    x = model.matmul(std::string("y") + name, x,
                     model.parameter(name, {1024, 1024}));
  ModelGraph graph = model.finish(x);
  Plan one = replicatedPlan(graph, 1);
  predictMemory(graph, one);
  Plan two = replicatedPlan(graph, 2, 2);
  predictMemory(graph, two);
  ASSERT_EQ(two.predictedStageMemoryBytes.size(), 2u);
  EXPECT_LT(two.predictedPeakMemoryBytes, one.predictedPeakMemoryBytes);
  EXPECT_EQ(two.predictedPeakMemoryBytes,
            std::max(two.predictedStageMemoryBytes[0],
                     two.predictedStageMemoryBytes[1]));
}

} // namespace
