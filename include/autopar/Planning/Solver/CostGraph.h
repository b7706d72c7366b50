//===- CostGraph.h - Costs of nodes and of pairs of nodes -----------------===//

#ifndef AUTOPAR_PLANNING_SOLVER_COSTGRAPH_H
#define AUTOPAR_PLANNING_SOLVER_COSTGRAPH_H

#include "autopar/Planning/Solver/Problem.h"

namespace autopar {

/// Costs of nodes and of pairs of nodes: a problem without memory.
struct CostGraph {
  std::vector<std::vector<double>> nodes; // per node and choice
  struct Edge {
    unsigned a, b; // a < b
    std::vector<double> cells;
  };
  std::vector<Edge> edges;
};

/// Returns the costs of a problem's nodes and edges: the seconds of each, plus
/// its bytes times its weight in seconds per byte. An edge from a node to
/// itself becomes a cost of the node, and edges between the same two nodes
/// become one.
CostGraph costsOf(const Problem &problem, llvm::ArrayRef<double> nodeWeight,
                  llvm::ArrayRef<double> edgeWeight);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_COSTGRAPH_H
