//===- FoldedGraphTest.cpp - A graph by its classes -----------------------===//

#include "autopar/Planning/Model/FoldedGraph.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace autopar;
using namespace llvm;

namespace {

/// Layers add rows of memory and counts, but nothing to decide.
TEST(FoldedGraph, DoesNotGrowWithTheLayers) {
  auto fold = [](int layers) {
    return FoldedGraph(chainOf(layers), std::vector<unsigned>(layers, 0));
  };
  FoldedGraph few = fold(50), many = fold(90);
  EXPECT_EQ(many.nodes, few.nodes);
  EXPECT_EQ(many.edges.size(), few.edges.size());
  EXPECT_EQ(many.rowKinds.size(), few.rowKinds.size());
  EXPECT_EQ(few.rows.size(), 50u);
  EXPECT_EQ(many.rows.size(), 90u);
  EXPECT_EQ(std::accumulate(many.opCounts.begin(), many.opCounts.end(), 0u),
            90u);
}

} // namespace
