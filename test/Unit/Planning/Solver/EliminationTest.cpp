//===- EliminationTest.cpp - Graphs of costs against all combinations -----===//

#include "RandomGraph.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(Elimination, FindsTheLeastCostOf300Graphs) {
  unsigned legal = 0, illegal = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CostGraph graph = graphOf(seed);
    double least = leastCost(graph);
    EliminationResult found = eliminate(graph, kUnlimited);
    EXPECT_EQ(found.cost, least) << "seed " << seed;
    EXPECT_EQ(found.lowerBound, least) << "seed " << seed;
    ++(least < kIllegal ? legal : illegal);
    if (least < kIllegal) {
      EXPECT_EQ(costOf(graph, found.choice), least) << "seed " << seed;
    }
  }
  EXPECT_GT(legal, 200u);
  EXPECT_GT(illegal, 5u);
}

/// Where tables are too large for an exact answer the bound holds, and what is
/// said to be best is.
TEST(Elimination, SmallTablesGiveBoundsThatHold) {
  unsigned open = 0, proved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CostGraph graph = randomGraph(seed, 7, 1);
    double least = leastCost(graph);
    EliminationResult found = eliminate(graph, /*cellLimit=*/8);
    EXPECT_LE(found.lowerBound, least * (1 + 1e-9)) << "seed " << seed;
    EXPECT_GE(found.cost, least) << "seed " << seed;
    if (found.cost < kIllegal) {
      EXPECT_EQ(costOf(graph, found.choice), found.cost) << "seed " << seed;
      ++(found.lowerBound < found.cost ? open : proved);
    }
  }
  EXPECT_GT(open, 20u);
  EXPECT_GT(proved, 20u);
}

/// From the cutoff on nothing is of interest, below it everything is as without
/// it.
TEST(Elimination, CutoffChangesNothingBelowIt) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    CostGraph graph = randomGraph(seed, 7, 1);
    double least = leastCost(graph);
    if (least == kIllegal)
      continue;
    EXPECT_EQ(eliminate(graph, kUnlimited, least + 1).cost, least);
    for (double cutoff : {least / 2, least + 1})
      EXPECT_LE(eliminate(graph, 8, cutoff).lowerBound, least * (1 + 1e-9))
          << "seed " << seed;
  }
}

/// Nodes with neighbours up to three places away: exact with large tables.
CostGraph band(unsigned seed, unsigned nodes, unsigned choices) {
  std::mt19937 random(seed);
  CostGraph graph;
  for (unsigned b = 0; b < nodes; ++b) {
    std::vector<double> &costs = graph.nodes.emplace_back();
    for (unsigned c = 0; c < choices; ++c)
      costs.push_back(random() % 10);
    for (unsigned a = b < 3 ? 0 : b - 3; a < b; ++a) {
      std::vector<double> cells;
      for (unsigned cell = 0; cell < choices * choices; ++cell)
        cells.push_back(random() % 100);
      graph.edges.push_back({a, b, std::move(cells)});
    }
  }
  return graph;
}

/// Where tables are too large, what is found comes close to the best all the
/// same, for trees of nodes change together: node by node it would be 20% off,
/// 35% at most.
TEST(Elimination, SmallTablesFindWhatIsNearlyBest) {
  double sum = 0, most = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    CostGraph graph = band(seed, /*nodes=*/40, /*choices=*/6);
    EliminationResult exact = eliminate(graph, kUnlimited);
    ASSERT_EQ(exact.cost, exact.lowerBound);
    EliminationResult found = eliminate(graph, /*cellLimit=*/36);
    EXPECT_GE(found.cost, exact.cost);
    EXPECT_LE(found.lowerBound, exact.cost);
    sum += found.cost / exact.cost - 1;
    most = std::max(most, found.cost / exact.cost - 1);
  }
  EXPECT_LT(sum / 20, 0.12);
  EXPECT_LT(most, 0.25);
}

/// Around several solutions and what they make together the best is found in
/// most graphs, where a quick search seldom does; bounds stay bounds.
TEST(Elimination, ThoroughSearchesFindTheBest) {
  unsigned quick = 0, thorough = 0;
  constexpr unsigned kGraphs = 20;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    CostGraph graph = band(seed, /*nodes=*/40, /*choices=*/6);
    double least = eliminate(graph, kUnlimited).cost;
    constexpr size_t kCells = 216;
    auto isBest = [&](double cost) { return cost <= least * (1 + 1e-9); };
    EliminationResult soon = eliminate(graph, kCells);
    EliminationResult late =
        eliminate(graph, kCells, kIllegal, nullptr, Effort::Thorough);
    EXPECT_LE(late.cost, soon.cost);
    EXPECT_GE(late.cost, least * (1 - 1e-9));
    EXPECT_LE(late.lowerBound, least * (1 + 1e-9));
    quick += isBest(soon.cost);
    thorough += isBest(late.cost);
  }
  EXPECT_LT(quick, kGraphs / 4);
  EXPECT_GT(thorough, 3 * kGraphs / 4);
}

/// Chains cost what their pairs cost, however long they are.
TEST(Elimination, WorkGrowsWithTheLengthOfAChain) {
  auto chain = [](unsigned nodes) {
    CostGraph graph;
    graph.nodes.assign(nodes, {1, 2, 4});
    for (unsigned i = 1; i < nodes; ++i)
      graph.edges.push_back({i - 1, i, {9, 0, 3, 0, 9, 3, 3, 3, 0}});
    return graph;
  };
  EliminationResult found = eliminate(chain(200), /*cellLimit=*/9);
  EXPECT_EQ(found.cost, 300); // 1 and 2 by turns
  EXPECT_EQ(found.lowerBound, 300);
  EXPECT_LE(found.work, 200 * 27);
}

} // namespace
