//===- CostGraph.cpp - A problem's costs as a graph -----------------------===//

#include "autopar/Planning/Solver/CostGraph.h"
#include "autopar/Planning/Solver/Elimination.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Adds an edge's matrix to the graph, its bytes at `weight` seconds each. An
/// edge from a node to itself becomes a cost of the node.
static void addEdge(CostGraph &graph,
                    std::map<std::pair<unsigned, unsigned>, size_t> &index,
                    const ProblemEdge &edge, double weight) {
  size_t rows = graph.nodes[edge.a].size(),
         columns = graph.nodes[edge.b].size();
  bool isHeld = weight > 0 && !edge.bytes.empty();
  auto costOf = [&](size_t cell) {
    return isHeld ? edge.seconds[cell] + weight * double(edge.bytes[cell])
                  : edge.seconds[cell];
  };
  if (edge.a == edge.b) {
    for (size_t choice = 0; choice < rows; ++choice)
      graph.nodes[edge.a][choice] += costOf(choice * columns + choice);
    return;
  }
  unsigned a = std::min(edge.a, edge.b), b = std::max(edge.a, edge.b);
  auto [it, inserted] = index.try_emplace({a, b}, graph.edges.size());
  if (inserted && edge.a == a && !isHeld) {
    graph.edges.push_back({a, b, edge.seconds});
    return;
  }
  if (inserted)
    graph.edges.push_back({a, b, std::vector<double>(rows * columns, 0)});
  std::vector<double> &sum = graph.edges[it->second].cells;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      sum[edge.a == a ? row * columns + column : column * rows + row] +=
          costOf(row * columns + column);
}

CostGraph costsOf(const Problem &problem, ArrayRef<double> nodeWeight,
                  ArrayRef<double> edgeWeight) {
  CostGraph graph;
  for (const auto &[item, weight] : zip_equal(problem.nodes, nodeWeight)) {
    graph.nodes.push_back(item.seconds);
    if (weight > 0 && !item.bytes.empty())
      for (size_t choice = 0; choice < item.choices(); ++choice)
        graph.nodes.back()[choice] += weight * item.bytes[choice];
  }
  std::map<std::pair<unsigned, unsigned>, size_t> index;
  for (const auto &[edge, weight] : zip_equal(problem.edges, edgeWeight))
    addEdge(graph, index, edge, weight);
  return graph;
}

} // namespace autopar
