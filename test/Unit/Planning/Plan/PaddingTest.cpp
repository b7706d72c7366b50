//===- PaddingTest.cpp - GEMMs whose operands a plan pads -----------------===//

#include "autopar/Planning/Plan/Padding.h"
#include "Plans.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

constexpr int64_t kRows = 512, kDepth = 1024;

/// Two products of tf32 numbers of one input, with 513 and 517 columns, on a
/// GPU.
ModelGraph unalignedProducts() {
  SmallModel model;
  unsigned x = model.input("x", {kRows, kDepth});
  unsigned w = model.parameter("w", {kDepth, 513});
  unsigned v = model.parameter("v", {kDepth, 517});
  model.matmul("a", x, w);
  ModelGraph graph = model.finish(model.matmul("b", x, v));
  for (GraphOp &op : graph.ops) {
    auto facts = std::make_shared<GraphOpFacts>(*op.facts);
    facts->flopsKind = FlopsKind::Tf32;
    op.facts = facts;
  }
  graph.table = &targetTable(kTargetEmulated);
  return graph;
}

/// The bytes of a weight and of a result with 520 columns.
constexpr int64_t kWeight = kDepth * 520 * 4, kResult = kRows * 520 * 4;

Plan paddedPlan(const ModelGraph &graph, int64_t room) {
  Plan plan = replicatedPlan(graph, 1);
  predictMemory(graph, plan);
  if (room)
    plan.request["memory_limit"] = plan.predictedPeakMemoryBytes + room;
  padOperands(graph, plan);
  return plan;
}

TEST(Padding, IsPredicted) {
  ModelGraph graph = unalignedProducts();
  Plan plain = replicatedPlan(graph, 1);
  predictMemory(graph, plain);
  // 513 columns become 516, 517 become 520.
  constexpr int64_t kFirst = kDepth * 516 * 4;
  Plan plan = paddedPlan(graph, /*room=*/0);
  EXPECT_TRUE(plan.ops[0].padded);
  EXPECT_TRUE(plan.ops[1].padded);
  EXPECT_EQ(plan.predictedPeakMemoryBytes,
            plain.predictedPeakMemoryBytes + kFirst + kWeight + kResult);
  EXPECT_EQ(plan.predictedStageMemoryBytes.front(),
            plan.predictedPeakMemoryBytes);
}

/// Beside the first GEMM's weight and result there is no room for the second's.
TEST(Padding, StaysWithinTheLimit) {
  ModelGraph graph = unalignedProducts();
  Plan plan = paddedPlan(graph, kWeight + kResult);
  EXPECT_TRUE(plan.ops[0].padded);
  EXPECT_FALSE(plan.ops[1].padded);
  EXPECT_LE(plan.predictedPeakMemoryBytes, plan.askedMemoryLimit());
  plan = paddedPlan(graph, /*room=*/1);
  EXPECT_FALSE(plan.ops[0].padded);
}

TEST(Padding, IsForTargetsWithAlignedRows) {
  ModelGraph graph = unalignedProducts();
  graph.table = &targetTable(kTargetCpu);
  EXPECT_FALSE(paddedPlan(graph, 0).ops[0].padded);
}

} // namespace
