//===- ModelGraphTest.cpp - What planning reads of a module ---------------===//

#include "autopar/Planning/Model/ModelGraph.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"
#include <set>

using namespace autopar;

namespace {

TEST(ModelGraph, KnowsUsesAndWhatDependsOnInputs) {
  ModelGraph graph = twoLayers(8);
  const GraphOp &first = graph.ops.front();
  const GraphValue &x = graph.values[first.operands[0]];
  const GraphValue &w = graph.values[first.operands[1]];
  ASSERT_EQ(x.uses.size(), 1u);
  EXPECT_EQ(x.uses.front().op, 0u);
  EXPECT_EQ(x.uses.front().operand, 0u);
  EXPECT_TRUE(x.fromInput);
  EXPECT_FALSE(w.fromInput);
  EXPECT_TRUE(graph.hasOwnStage(0));
  EXPECT_EQ(x.batchDim, 0);
  EXPECT_TRUE(graph.values[graph.stepResults.front()].output);
}

/// An op of parameters alone is computed in each stage that reads it. A plan
/// names the first of these stages.
TEST(ModelGraph, WhatDependsOnNoInputIsRepeated) {
  SmallModel model;
  unsigned x = model.input("x", {8, 64});
  unsigned w = model.elementwise("v", model.parameter("w", {64, 64}));
  ModelGraph graph = model.finish(model.matmul("y", x, w));
  EXPECT_FALSE(graph.hasOwnStage(0));
  EXPECT_TRUE(graph.hasOwnStage(1));
  EXPECT_FALSE(graph.isMadeInOneStage(graph.values[w]));
  EXPECT_TRUE(graph.isMadeInOneStage(graph.values[graph.stepResults.front()]));
  EXPECT_EQ(graph.earliestStage(graph.ops[1], {2, 0}), 2);
  std::vector<int64_t> stages{0, 1};
  graph.completeStages(stages, /*count=*/3);
  EXPECT_EQ(stages, (std::vector<int64_t>{1, 1}));
}

/// A weight that training updates has the role of a weight, but differs from
/// step to step: an op of it is not repeated.
TEST(ModelGraph, WhatDependsOnATrainedWeightIsNotRepeated) {
  SmallModel model;
  unsigned x = model.input("x", {8, 64});
  unsigned w = model.elementwise("v", model.trained("w", {64, 64}));
  ModelGraph graph = model.finish(model.matmul("y", x, w));
  EXPECT_TRUE(graph.values[w].fromParameter);
  EXPECT_FALSE(graph.values[w].fromInput);
  EXPECT_TRUE(graph.hasOwnStage(0));
  EXPECT_TRUE(graph.isMadeInOneStage(graph.values[w]));
}

/// Names are unique, and no part of the hash.
TEST(ModelGraph, TheHashKnowsShapesAndNoNames) {
  EXPECT_EQ(twoLayers(8).hash, twoLayers(8).hash);
  EXPECT_NE(twoLayers(8).hash, twoLayers(16).hash);
  auto product = [](llvm::StringRef name) {
    SmallModel model;
    unsigned x = model.input("x", {8, 8});
    return model.finish(model.matmul(name, model.elementwise("e", x), x));
  };
  EXPECT_EQ(product("y").hash, product("z").hash);
  std::set<std::string> names;
  for (const GraphOp &op : product("e").ops)
    names.insert(op.name);
  EXPECT_EQ(names.size(), 2u);
}

} // namespace
