//===- DimensionMarksTest.cpp - Dimensions followed through a graph -------===//

#include "autopar/Planning/Model/DimensionMarks.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

unsigned valueOf(const ModelGraph &graph, llvm::StringRef name) {
  for (unsigned value = 0; value < graph.values.size(); ++value)
    if (graph.values[value].name == name)
      return value;
  ADD_FAILURE() << "no value " << name.str();
  return 0;
}

TEST(DimensionMarks, RowsPassProducts) {
  ModelGraph graph = twoLayers(8);
  DimensionMarks marks(graph);
  marks.dims[valueOf(graph, "x")] = 0;
  propagateForward(graph, marks, [](const GraphOp &) { return true; });
  for (const char *name : {"h", "r", "y"})
    EXPECT_EQ(marks.dims[valueOf(graph, name)], 0u) << name;
  EXPECT_FALSE(marks.dims[valueOf(graph, "w1")]);
  EXPECT_EQ(marks.factors[0], 0u); // the product's rows
}

TEST(DimensionMarks, AreCarriedByOpsOfTheFilterAlone) {
  ModelGraph graph = twoLayers(8);
  DimensionMarks marks(graph);
  marks.dims[valueOf(graph, "x")] = 0;
  propagateForward(graph, marks,
                   [](const GraphOp &op) { return op.name != "node_r"; });
  EXPECT_TRUE(marks.dims[valueOf(graph, "h")]);
  EXPECT_FALSE(marks.dims[valueOf(graph, "r")]);
  EXPECT_FALSE(marks.dims[valueOf(graph, "y")]);
}

/// The columns of h are the rows of w2, and the columns of w1.
TEST(DimensionMarks, GoBackToOperands) {
  ModelGraph graph = twoLayers(8);
  DimensionMarks marks(graph);
  marks.dims[valueOf(graph, "r")] = 1;
  propagateBothWays(graph, marks, [](const GraphOp &) { return true; });
  EXPECT_EQ(marks.dims[valueOf(graph, "h")], 1u);
  EXPECT_EQ(marks.dims[valueOf(graph, "w1")], 1u);
}

/// A factor of one element is passed over.
TEST(DimensionMarks, TheMajorFactorHasElements) {
  ShardingRule rule;
  rule.addFactor(1);
  rule.addFactor(6);
  DimFactors dim;
  dim.factors = {0, 1};
  EXPECT_EQ(majorFactor(rule, dim), 1u);
  dim.factors = {0};
  EXPECT_FALSE(majorFactor(rule, dim));
}

} // namespace
