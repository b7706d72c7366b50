//===- PlanSearchTest.cpp - One search for the best plan ------------------===//

#include "lib/Planning/Search/PlanSearch.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// `layersAndGradients` by data on four GPUs with so much memory.
struct Training {
  ModelGraph graph = layersAndGradients(8, 64, 256);
  PlanRequest request = requestOf(4, "data", "");

  explicit Training(int64_t memoryLimit) {
    graph.table = &targetTable(kTargetCuda);
    request.cluster = cantFail(parseCluster("1x4:a100-80gb"));
    request.memoryLimit = memoryLimit;
  }
  PlanSearch search(bool regathers) const {
    return PlanSearch(graph, request, nullptr, regathers,
                      std::make_shared<SharedWork>());
  }
};

constexpr int64_t kWeights = 8 * 256 * 256 * 4; // bytes of all weights

TEST(PlanSearch, IsNotShortOfMemoryThatDevicesHave) {
  Training training(0);
  PlanSearch search = training.search(/*regathers=*/false);
  EXPECT_TRUE(bool(search.run()));
  EXPECT_FALSE(search.isShortOfMemory());
  EXPECT_FALSE(search.tried.empty());
}

/// Half of the weights hold no copy of all of them.
TEST(PlanSearch, MakesCopiesAgainIfItMay) {
  Training training(kWeights / 2);
  PlanSearch holding = training.search(/*regathers=*/false);
  Expected<Plan> held = holding.run();
  EXPECT_TRUE(held.errorIsA<NotEnoughMemory>());
  consumeError(held.takeError());
  EXPECT_TRUE(holding.isShortOfMemory());
  PlanSearch regathering = training.search(/*regathers=*/true);
  Plan plan = cantFail(regathering.run());
  EXPECT_LE(plan.predictedPeakMemoryBytes, kWeights / 2);
  EXPECT_TRUE(any_of(
      plan.ops, [](const PlannedOp &op) { return !op.regathers.empty(); }));
  Plan first = cantFail(training.search(/*regathers=*/true).runToFirst());
  EXPECT_GE(first.predictedStepSeconds, plan.predictedStepSeconds);
}

} // namespace
