//===- DeadEndsTest.cpp - Choices that no best solution needs -------------===//

#include "RandomGraph.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

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

} // namespace
