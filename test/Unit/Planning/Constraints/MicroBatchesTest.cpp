//===- MicroBatchesTest.cpp - The batch split over time -------------------===//

#include "autopar/Planning/Constraints/MicroBatches.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

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

} // namespace
