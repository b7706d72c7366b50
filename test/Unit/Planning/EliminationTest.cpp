//===- EliminationTest.cpp - Graphs of costs against all combinations -----===//
//
// What a search of a graph is made of, each part beside the least cost over all
// combinations of choices: elimination, dead ends, bounds by message passing.
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "autopar/Planning/Solver/DualBound.h"
#include "lib/Planning/Solver/BucketElimination.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

constexpr size_t kUnlimited = size_t(1) << 24;

/// The graphs that the parts are tried on: from trees to complete ones.
CostGraph graphOf(unsigned seed) {
  unsigned nodes = 2 + seed % 6;
  return seed % 3 == 0 ? randomTree(seed, nodes)
                       : randomGraph(seed, nodes, seed % 3 == 1 ? 0.5 : 1);
}

double leastCost(const CostGraph &graph) {
  return leastCost(graph, allChoices(graph));
}

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

//===----------------------------------------------------------------------===//
// Dead ends
//===----------------------------------------------------------------------===//

TEST(DeadEnds, ABestSolutionRemains) {
  size_t before = 0, after = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CostGraph graph = graphOf(seed);
    Domains domains = allChoices(graph);
    double least = leastCost(graph, domains);
    for (const std::vector<unsigned> &domain : domains)
      before += domain.size();
    dropDeadEnds(graph, domains);
    for (const std::vector<unsigned> &domain : domains) {
      EXPECT_FALSE(domain.empty()) << "seed " << seed;
      after += domain.size();
    }
    EXPECT_EQ(leastCost(graph, domains), least) << "seed " << seed;
  }
  EXPECT_LT(after, before * 3 / 4);
}

/// Choice 1 of node 0 costs 5 more and saves 10 beside one choice of node 1;
/// choice 2 saves as much and costs 6 more. Node 1 takes its choice 1 once the
/// other costs too much, and node 0 the one that is best there.
TEST(DeadEnds, DropsWhatIsNeverBetter) {
  CostGraph graph;
  graph.nodes = {{0, 5, 6}, {0, 0}};
  graph.edges = {{0, 1, {0, 10, 0, 0, 0, 0}}};
  Domains domains = allChoices(graph);
  dropDeadEnds(graph, domains);
  EXPECT_EQ(domains, (Domains{{0}, {0}}));
  graph.nodes[1] = {20, 0};
  domains = allChoices(graph);
  dropDeadEnds(graph, domains);
  EXPECT_EQ(domains, (Domains{{1}, {1}}));
}

/// Of equal choices the first stays: the same answer whatever their order.
TEST(DeadEnds, KeepsTheFirstOfEquals) {
  CostGraph graph;
  graph.nodes = {{7, 7, 7}, {1, 1}};
  graph.edges = {{0, 1, {2, 2, 2, 2, 2, 2}}};
  Domains domains = allChoices(graph);
  dropDeadEnds(graph, domains);
  EXPECT_EQ(domains, (Domains{{0}, {0}}));
}

/// A choice that is cheaper but not legal beside every neighbour's choice rules
/// nothing out; one that is legal nowhere is ruled out.
TEST(DeadEnds, IllegalPairs) {
  CostGraph graph;
  graph.nodes = {{0, 30}, {0, 0}};
  graph.edges = {{0, 1, {0, kIllegal, 0, 0}}};
  Domains domains = allChoices(graph);
  graph.nodes[1] = {50, 0}; // beside choice 1 of node 1 only 1 of node 0
  dropDeadEnds(graph, domains);
  EXPECT_EQ(domains, (Domains{{0, 1}, {0, 1}}));
  EXPECT_EQ(leastCost(graph, domains), 30);
  graph.edges[0].cells = {kIllegal, kIllegal, 0, 0};
  dropDeadEnds(graph, domains);
  EXPECT_EQ(domains, (Domains{{1}, {1}}));
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// More than the best solution costs, whose cost is `least`.
static double capOf(double least) {
  constexpr double kNone = 1e5; // more than any legal solution here costs
  return least < kIllegal ? 2 * least + 1 : kNone;
}

/// Messages are computed from cells that are rounded to floats.
static double roundingOf(double cap) { return 1e-5 * cap; }

TEST(DualBound, NeverAboveTheLeastCostAndNeverFalls) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CostGraph graph = graphOf(seed);
    double least = leastCost(graph);
    double cap = capOf(least);
    DualBound dual(graph, allChoices(graph), cap);
    double before = dual.lowerBound();
    for (unsigned round = 0; round < 3; ++round) {
      dual.improve(/*passes=*/10, kIllegal);
      EXPECT_GE(dual.lowerBound(), before - roundingOf(cap)) << "seed " << seed;
      EXPECT_LE(dual.lowerBound(), least * (1 + 1e-9)) << "seed " << seed;
      before = dual.lowerBound();
    }
  }
}

TEST(DualBound, WeighedSharesAreABoundThatSpreadingKeeps) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CostGraph graph = graphOf(seed);
    std::mt19937 random(seed);
    std::vector<double> weights;
    for (size_t edge = 0; edge < graph.edges.size(); ++edge)
      weights.push_back(1 + random() % 30);
    double least = leastCost(graph);
    double cap = capOf(least);
    DualBound dual(graph, allChoices(graph), cap);
    dual.weigh(weights);
    dual.improve(/*passes=*/10, kIllegal);
    double before = dual.lowerBound();
    for (unsigned round = 0; round < 3; ++round) {
      dual.spread(/*passes=*/5);
      EXPECT_GE(dual.lowerBound(), before - roundingOf(cap)) << "seed " << seed;
      EXPECT_LE(dual.lowerBound(), least * (1 + 1e-9)) << "seed " << seed;
      before = dual.lowerBound();
    }
  }
}

TEST(DualBound, IsTheLeastCostOfATree) {
  unsigned tried = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    CostGraph graph = randomTree(seed, 7);
    double least = leastCost(graph);
    if (least == kIllegal)
      continue;
    ++tried;
    double cap = capOf(least);
    DualBound dual(graph, allChoices(graph), cap);
    for (unsigned round = 0; round < 20; ++round)
      dual.improve(/*passes=*/10, kIllegal);
    EXPECT_LE(dual.lowerBound(), least * (1 + 1e-9)) << "seed " << seed;
    EXPECT_NEAR(dual.lowerBound(), least, roundingOf(cap)) << "seed " << seed;
    EXPECT_EQ(costOf(graph, dual.greedy()), least) << "seed " << seed;
  }
  EXPECT_GT(tried, 50u);
}

TEST(DualBound, PrunesNoBestSolution) {
  size_t dropped = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CostGraph graph = graphOf(seed);
    double least = leastCost(graph);
    if (least == kIllegal)
      continue;
    Domains domains = allChoices(graph);
    DualBound dual(graph, domains, capOf(least));
    dual.improve(/*passes=*/50, kIllegal);
    dropped += dual.prune(domains, /*upperBound=*/least);
    EXPECT_EQ(leastCost(graph, domains), least) << "seed " << seed;
  }
  EXPECT_GT(dropped, 150u);
}

} // namespace
