//===- RandomGraph.h - Graphs of costs with their known optimum -----------===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_SOLVER_RANDOMGRAPH_H
#define AUTOPAR_TEST_UNIT_PLANNING_SOLVER_RANDOMGRAPH_H

#include "autopar/Planning/Solver/DeadEnds.h"
#include "autopar/Planning/Solver/Elimination.h"
#include "lib/Planning/Solver/BoundedSearch.h"
#include <random>

namespace autopar {

/// `nodes` nodes with 1 to 4 choices each; of each pair of nodes a share of
/// `density` has an edge. About every tenth cell is illegal, and every twelfth
/// choice, but never all of a node's.
inline CostGraph randomGraph(unsigned seed, unsigned nodes, double density) {
  std::mt19937 random(seed);
  auto number = [&](unsigned low, unsigned high) {
    return low + random() % (high - low + 1);
  };
  CostGraph graph;
  for (unsigned i = 0; i < nodes; ++i) {
    std::vector<double> &costs = graph.nodes.emplace_back();
    for (unsigned c = number(1, 4); c > 0; --c)
      costs.push_back(!costs.empty() && number(0, 11) == 0 ? kIllegal
                                                           : number(0, 40));
  }
  for (unsigned b = 1; b < nodes; ++b)
    for (unsigned a = 0; a < b; ++a) {
      if (number(0, 999) >= 1000 * density)
        continue;
      CostGraph::Edge edge{a, b, {}};
      for (size_t cell = graph.nodes[a].size() * graph.nodes[b].size();
           cell > 0; --cell)
        edge.cells.push_back(number(0, 9) == 0 ? kIllegal : number(0, 40));
      graph.edges.push_back(std::move(edge));
    }
  return graph;
}

/// As above, its edges a tree.
inline CostGraph randomTree(unsigned seed, unsigned nodes) {
  CostGraph graph = randomGraph(seed, nodes, 1);
  std::mt19937 random(seed + 1);
  std::vector<unsigned> parents(nodes, 0);
  for (unsigned b = 1; b < nodes; ++b)
    parents[b] = random() % b;
  llvm::erase_if(graph.edges, [&](const CostGraph::Edge &edge) {
    return parents[edge.b] != edge.a;
  });
  return graph;
}

/// Least cost over all combinations of the choices in `domains`; kIllegal where
/// none is legal.
inline double leastCost(const CostGraph &graph, const Domains &domains) {
  double least = kIllegal;
  std::vector<unsigned> position(domains.size(), 0), choice(domains.size());
  for (const std::vector<unsigned> &domain : domains)
    if (domain.empty())
      return kIllegal;
  while (true) {
    for (size_t node = 0; node < domains.size(); ++node)
      choice[node] = domains[node][position[node]];
    least = std::min(least, costOf(graph, choice));
    size_t node = 0;
    while (node < domains.size() && ++position[node] == domains[node].size())
      position[node++] = 0;
    if (node == domains.size())
      return least;
  }
}

/// Cells of tables that are never too large here.
inline constexpr size_t kUnlimited = size_t(1) << 24;

/// The graphs that the parts are tried on: from trees to complete ones.
inline CostGraph graphOf(unsigned seed) {
  unsigned nodes = 2 + seed % 6;
  return seed % 3 == 0 ? randomTree(seed, nodes)
                       : randomGraph(seed, nodes, seed % 3 == 1 ? 0.5 : 1);
}

inline double leastCost(const CostGraph &graph) {
  return leastCost(graph, allChoices(graph));
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_SOLVER_RANDOMGRAPH_H
