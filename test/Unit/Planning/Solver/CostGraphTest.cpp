//===- CostGraphTest.cpp - A problem's seconds and priced bytes -----------===//

#include "autopar/Planning/Solver/CostGraph.h"
#include "RandomProblem.h"
#include "lib/Planning/Solver/NeighbourhoodSearch.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// Edges of a node to itself, turned ones and several between two nodes cost
/// in the graph what they do in the problem.
TEST(CostGraph, CostsWhatTheProblemDoes) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    std::mt19937 random(seed);
    std::vector<double> nodeWeight, edgeWeight;
    for (size_t node = 0; node < problem.nodes.size(); ++node)
      nodeWeight.push_back(random() % 3);
    for (size_t edge = 0; edge < problem.edges.size(); ++edge)
      edgeWeight.push_back(random() % 3);
    CostGraph graph = costsOf(problem, nodeWeight, edgeWeight);
    for (const CostGraph::Edge &edge : graph.edges)
      EXPECT_LT(edge.a, edge.b);
    for (unsigned attempt = 0; attempt < 20; ++attempt) {
      std::vector<unsigned> choice;
      for (const ProblemNode &node : problem.nodes)
        choice.push_back(random() % node.choices());
      double expected = problem.secondsOf(choice);
      for (size_t node = 0; node < problem.nodes.size(); ++node)
        expected +=
            nodeWeight[node] * double(problem.nodes[node].bytes[choice[node]]);
      for (size_t index = 0; index < problem.edges.size(); ++index) {
        const ProblemEdge &edge = problem.edges[index];
        size_t columns = problem.nodes[edge.b].choices();
        expected +=
            edgeWeight[index] *
            double(edge.bytes[choice[edge.a] * columns + choice[edge.b]]);
      }
      EXPECT_EQ(costOf(graph, choice), expected) << "seed " << seed;
    }
  }
}

} // namespace
