//===- DualBound.h - Lower bounds by message passing ------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SOLVER_DUALBOUND_H
#define AUTOPAR_PLANNING_SOLVER_DUALBOUND_H

#include "autopar/Planning/Solver/DeadEnds.h"
#include <optional>

namespace autopar {

/// The costs of a graph, moved between nodes and edges by messages: the cost of
/// every solution stays, while the sum of the least costs of all nodes and
/// edges, a lower bound, grows (sequential tree-reweighted message passing). A
/// choice that costs far more than the cheapest one of its node cannot be in a
/// solution below a known upper bound.
class DualBound {
public:
  /// Costs above `cap` are treated like illegal ones. `start` has the messages
  /// of a similar graph, from which fewer passes reach the same bound; edges
  /// may be missing there. `graph` must outlive this.
  DualBound(const CostGraph &graph, const Domains &domains, double cap,
            const MessageTable &start = {});
  /// Sets the weights, one per edge of the graph, by which a node gives shares
  /// to its edges, instead of equal shares.
  void weigh(llvm::ArrayRef<double> weights);

  /// Does at most `passes` passes over all nodes, forth and back. It stops once
  /// the bound hardly comes nearer to `upperBound`.
  void improve(unsigned passes, double upperBound);
  /// Does `passes` passes in which each node gives all its costs to its edges,
  /// by their weights (max-sum diffusion). The bound does not fall.
  void spread(unsigned passes);
  /// Returns the lower bound: no solution within the domains costs less.
  double lowerBound() const;
  /// Drops the choices that only solutions above `upperBound` have. Returns
  /// whether any were dropped.
  bool prune(Domains &domains, double upperBound) const;
  /// Returns, per node and position in its domain, by how much a solution with
  /// this choice exceeds the bound at least.
  std::vector<std::vector<double>> slacks() const;
  /// Chooses node after node: each gets the choice that costs least beside
  /// those chosen before.
  std::vector<unsigned> greedy() const;
  /// Returns messages that can be the `start` for a similar graph; those of
  /// choices outside the domains are 0.
  MessageTable messages() const;

private:
  /// The cost of a cell is its own plus the numbers that its row and its column
  /// were given. The bound holds whatever these numbers are, so messages may be
  /// computed from rounded cells.
  struct Edge {
    const CostGraph::Edge &exact;
    double weight;
    std::vector<double> cells; // over the domains, `cap` at most
    std::vector<float> rounded;
    std::vector<double> ofRows, ofColumns{}; // over the domains
    /// The node that was the last to pull, if nothing has changed since then.
    std::optional<unsigned> pulledBy{};
  };
  /// Returns, per row and per column of an edge, the least cost there.
  std::pair<std::vector<double>, std::vector<double>>
  leastOf(const Edge &edge) const;
  double at(const Edge &edge, size_t row, size_t column) const;
  void pass();
  void pull(unsigned node);
  void push(unsigned node, bool forward);
  void give(unsigned node, llvm::ArrayRef<unsigned> edges, double weight);

  const CostGraph &graph;
  Domains domains;
  double cap;
  std::vector<std::vector<double>> nodes; // over the domains
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf; // per node
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_DUALBOUND_H
