//===- DualBoundTest.cpp - Bounds by message passing against all combinations
//---===//

#include "autopar/Planning/Solver/DualBound.h"
#include "RandomGraph.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

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
