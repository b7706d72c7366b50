//===- BatchSizeTest.cpp - Which dimensions are the batch -----------------===//

#include "autopar/Planning/Model/BatchSize.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// Of the outputs rather than of what all rows share; next values of states and
/// gradients say nothing.
TEST(BatchSize, TheBatchIsTheOutputsRows) {
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

} // namespace
