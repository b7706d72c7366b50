//===- BucketEliminationTest.cpp - Nodes minimised over one by one --------===//

#include "lib/Planning/Solver/BucketElimination.h"
#include "RandomGraph.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(BucketElimination, ForeseesItsLargestTable) {
  CostGraph graph;
  graph.nodes.assign(5, {3, 1, 2, 5});
  for (unsigned b = 1; b < 5; ++b)
    for (unsigned a = 0; a < b; ++a)
      graph.edges.push_back({a, b, std::vector<double>(16, 1)});
  Domains domains = allChoices(graph);
  EXPECT_EQ(largestTable(graph, domains, /*enough=*/1024), 1024);
  EXPECT_GT(largestTable(graph, domains, /*enough=*/255), 255);
  BucketElimination elimination(graph, domains);
  elimination.eliminateAll();
  EXPECT_EQ(elimination.constant, 5 + 10);
  EXPECT_EQ(elimination.decode({}, {}), std::vector<unsigned>(5, 1));
}

} // namespace
