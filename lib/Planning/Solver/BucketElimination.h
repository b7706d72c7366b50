//===- BucketElimination.h - Elimination of node after node -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_BUCKETELIMINATION_H
#define AUTOPAR_LIB_PLANNING_SOLVER_BUCKETELIMINATION_H

#include "autopar/Planning/Solver/DeadEnds.h"
#include <set>

namespace autopar {

/// Costs of every combination of the choices of some nodes.
struct CostTable {
  std::vector<unsigned> scope; // ascending; the last varies fastest
  std::vector<double> cells;
};

/// Eliminates nodes over given domains: a node's tables become one table of the
/// least that they cost together, over the nodes that they touch. Nodes that
/// make the smallest tables go first.
class BucketElimination {
public:
  /// Both must outlive this.
  BucketElimination(const CostGraph &graph, const Domains &domains);

  void eliminateAll();
  /// Makes eliminateChains leave this node.
  void keep(unsigned node) { kept[node] = true; }
  /// Eliminates nodes of at most two neighbours, so that the graph that remains
  /// has only costs of nodes and of pairs of nodes again.
  void eliminateChains(size_t cellLimit);

  /// Returns the graph that eliminateChains left, whose choices are positions
  /// in the domains. `nodes` is set to the numbers of its nodes.
  CostGraph rest(std::vector<unsigned> &nodes) const;
  /// Returns the choices of all nodes, given the positions of those in `nodes`.
  std::vector<unsigned> decode(llvm::ArrayRef<unsigned> nodes,
                               llvm::ArrayRef<unsigned> positions) const;

  /// The number of table cells computed.
  double work = 0;
  /// The cost of eliminated nodes that have no neighbours left.
  double constant = 0;

private:
  /// The best choice of an eliminated node for every combination of its scope.
  struct Decision {
    unsigned node;
    std::vector<unsigned> scope;
    std::vector<uint16_t> best; // position in the node's domain
  };

  size_t size(unsigned node) const { return domains[node].size(); }
  double costOf(unsigned node) const;
  void requeue(unsigned node, size_t maxNeighbours);
  void eliminateCheapest(size_t maxNeighbours);
  std::vector<unsigned> takeTables(unsigned node);
  void put(CostTable table);
  CostTable minimise(unsigned node, llvm::ArrayRef<unsigned> tables);

  const Domains &domains;
  std::vector<CostTable> tables;
  std::vector<std::set<unsigned>> tablesOf;   // per node
  std::vector<std::set<unsigned>> neighbours; // per node
  std::vector<bool> eliminated, kept;         // per node
  std::vector<Decision> decisions;
  /// Nodes that can be eliminated, ordered by the cost of doing so.
  std::set<std::pair<double, unsigned>> queue;
  std::vector<double> queued; // per node; -1: not in the queue
};

/// Returns the cells of the largest table that eliminating all nodes over given
/// domains computes, or some number above `enough`.
double largestTable(const CostGraph &graph, const Domains &domains,
                    double enough);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_BUCKETELIMINATION_H
