//===- BoundedSearchTest.cpp - Bounds that make elimination cheap ---------===//

#include "lib/Planning/Solver/BoundedSearch.h"
#include "RandomGraph.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// However small the tables, the bound holds and what is found costs what it
/// says; where both meet it is the best.
TEST(BoundedSearch, ClosesInOnTheBest) {
  unsigned proved = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CostGraph graph = randomGraph(seed, /*nodes=*/7, /*density=*/0.7);
    double least = leastCost(graph);
    MessageTable messages;
    EliminationResult found =
        BoundedSearch(graph, allChoices(graph), /*cellLimit=*/64, kIllegal,
                      /*elsewhere=*/0, Effort::Quick, messages)
            .run();
    EXPECT_LE(found.lowerBound, least * (1 + 1e-9)) << "seed " << seed;
    if (found.cost == kIllegal)
      continue;
    EXPECT_EQ(costOf(graph, found.choice), found.cost) << "seed " << seed;
    EXPECT_GE(found.cost, least) << "seed " << seed;
    if (found.lowerBound >= found.cost) {
      EXPECT_EQ(found.cost, least) << "seed " << seed;
      ++proved;
    }
  }
  EXPECT_GT(proved, 100u);
}

/// A search leaves messages of the graph's nodes, from which the next search of
/// the same graph starts; its bound holds, too.
TEST(BoundedSearch, MessagesStartTheNextSearch) {
  CostGraph graph = randomGraph(/*seed=*/5, /*nodes=*/7, /*density=*/1);
  double least = leastCost(graph);
  MessageTable messages;
  for (unsigned round = 0; round < 2; ++round) {
    EliminationResult found =
        BoundedSearch(graph, allChoices(graph), /*cellLimit=*/8, kIllegal, 0,
                      Effort::Quick, messages)
            .run();
    EXPECT_LE(found.lowerBound, least * (1 + 1e-9));
  }
  for (const auto &[edge, moved] : messages) {
    EXPECT_EQ(moved.ofA.size(), graph.nodes[edge.first].size());
    EXPECT_EQ(moved.ofB.size(), graph.nodes[edge.second].size());
  }
}

} // namespace
