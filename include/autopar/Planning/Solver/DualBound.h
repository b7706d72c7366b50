//===- DualBound.h - Costs moved until they tell what cannot be best ------===//

#ifndef AUTOPAR_PLANNING_SOLVER_DUALBOUND_H
#define AUTOPAR_PLANNING_SOLVER_DUALBOUND_H

#include "autopar/Planning/Solver/DeadEnds.h"
#include <optional>

namespace autopar {

/// A graph's costs, moved between nodes and edges by messages: the cost of
/// every solution stays, the sum of what each node and edge costs at least
/// grows (sequential tree-reweighted message passing). What is far above its
/// node's least cannot be in a solution below a known upper bound.
class DualBound {
public:
  /// Costs above `cap` are as good as illegal. `start`: messages of a graph
  /// alike, from which fewer passes lead as far; edges may be missing. `graph`
  /// must outlive this.
  DualBound(const CostGraph &graph, const Domains &domains, double cap,
            const MessageTable &start = {});
  /// A node gives its edges shares by these weights, one per edge of the graph,
  /// instead of equal ones.
  void weigh(llvm::ArrayRef<double> weights);

  /// At most so many passes over all nodes, forth and back; fewer once the
  /// bound hardly comes nearer to `upperBound`.
  void improve(unsigned passes, double upperBound);
  /// So many passes in which each node gives all that it costs to its edges, by
  /// their weights (max-sum diffusion): the bound does not fall.
  void spread(unsigned passes);
  /// No solution within the domains costs less.
  double lowerBound() const;
  /// Drops what would bring a solution above `upperBound`; whether anything
  /// was.
  bool prune(Domains &domains, double upperBound) const;
  /// Per node and position in its domain: by how much a solution with this
  /// choice exceeds the bound at least.
  std::vector<std::vector<double>> slacks() const;
  /// Chooses node after node what costs least beside those before.
  std::vector<unsigned> greedy() const;
  /// A `start` for a graph alike: choices outside the domains get nothing.
  MessageTable messages() const;

private:
  /// A cell costs what it says and what its row and its column were given: a
  /// bound whatever they were given, so that messages may be computed from
  /// rounded cells.
  struct Edge {
    const CostGraph::Edge &exact;
    double weight;
    std::vector<double> cells; // over the domains, `cap` at most
    std::vector<float> rounded;
    std::vector<double> ofRows, ofColumns{}; // over the domains
    /// The node that was the last to pull, if nothing changed since.
    std::optional<unsigned> pulledBy{};
  };
  /// Per row and per column of an edge the least that it costs.
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
