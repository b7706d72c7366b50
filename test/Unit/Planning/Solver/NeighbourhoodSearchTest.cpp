//===- NeighbourhoodSearchTest.cpp - Many choices made anew at once -------===//

#include "lib/Planning/Solver/NeighbourhoodSearch.h"
#include "RandomGraph.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// A path 2 - 0 - 1 - 3.
TEST(NeighbourhoodSearch, NodesComeByTheirDistance) {
  Neighbours path = {{1, 2}, {0, 3}, {0}, {1}};
  EXPECT_EQ(nearestFirst(path, 2), (std::vector<unsigned>{2, 0, 1, 3}));
  EXPECT_EQ(nearestFirst(path, 3).front(), 3u);
}

/// Of a tree all nodes change at once: the best is found from anywhere, and
/// what is known is never given up for something worse.
TEST(NeighbourhoodSearch, TreesAreImprovedToTheBest) {
  unsigned tried = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    CostGraph graph = randomTree(seed, 7);
    Domains domains = allChoices(graph);
    double least = leastCost(graph, domains);
    CostedChoice known;
    for (const std::vector<unsigned> &domain : domains)
      known.choice.push_back(domain.back());
    known.cost = costOf(graph, known.choice);
    if (known.cost == kIllegal)
      continue;
    ++tried;
    NeighbourhoodSearch search(graph, domains, kUnlimited);
    search.improveTrees(known);
    EXPECT_EQ(known.cost, least) << "seed " << seed;
    EXPECT_EQ(costOf(graph, known.choice), known.cost) << "seed " << seed;
    EXPECT_GT(search.work, 0);
  }
  EXPECT_GT(tried, 10u);
}

TEST(NeighbourhoodSearch, TheBestOverDomainsIsExactOrNone) {
  CostGraph graph = randomGraph(/*seed=*/3, /*nodes=*/6, /*density=*/1);
  Domains domains = allChoices(graph);
  double least = leastCost(graph, domains);
  NeighbourhoodSearch wide(graph, domains, kUnlimited);
  std::optional<CostedChoice> best = wide.bestOver(domains);
  ASSERT_EQ(best.has_value(), least < kIllegal);
  if (best) {
    EXPECT_EQ(best->cost, least);
  }
  NeighbourhoodSearch narrow(graph, domains, /*cellLimit=*/1);
  EXPECT_FALSE(narrow.bestOver(domains)); // its tables are too large
}

} // namespace
