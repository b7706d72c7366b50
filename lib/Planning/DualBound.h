//===- DualBound.h - Costs moved until they tell what cannot be best ------===//

#ifndef AUTOPAR_LIB_PLANNING_DUALBOUND_H
#define AUTOPAR_LIB_PLANNING_DUALBOUND_H

#include "DeadEnds.h"

namespace autopar {

/// A graph's costs, moved between nodes and edges by messages: the cost of
/// every solution stays, the sum of what each node and edge costs at least
/// grows (sequential tree-reweighted message passing). What is far above its
/// node's least cannot be in a solution below a known upper bound.
class DualBound {
public:
  /// Costs above `cap` are as good as illegal.
  DualBound(const CostGraph &graph, const Domains &domains, double cap);

  /// At most so many passes over all nodes, forth and back; fewer once the
  /// bound hardly comes nearer to `upperBound`.
  void improve(unsigned passes, double upperBound);
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

private:
  /// A cell costs what it says and what its row and its column were given.
  struct Edge {
    unsigned a, b;
    std::vector<double> cells; // over the domains
    std::vector<double> ofRows, ofColumns;

    double at(size_t row, size_t column) const {
      return cells[row * ofColumns.size() + column] + ofRows[row] +
             ofColumns[column];
    }
    std::vector<double> leastPerRow() const;
    std::vector<double> leastPerColumn() const;
  };
  void pass();
  void pull(unsigned node);
  void push(unsigned node, bool forward);

  Domains domains;
  std::vector<std::vector<double>> nodes; // over the domains
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf; // per node
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_DUALBOUND_H
