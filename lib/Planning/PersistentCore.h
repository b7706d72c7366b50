//===- PersistentCore.h - What is left beside persistent memory -*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_PERSISTENTCORE_H
#define AUTOPAR_LIB_PLANNING_PERSISTENTCORE_H

#include "BucketElimination.h"
#include "autopar/Planning/Elimination.h"
#include <map>

namespace autopar {

/// A problem whose nodes without persistent terms are eliminated where they
/// have at most two neighbours. Neither a multiplier of the persistent terms
/// nor choices that are fixed of nodes with such terms change these: they are
/// eliminated once for all of both.
class PersistentCore {
public:
  /// The problem must outlive this. `graph`: its seconds.
  PersistentCore(const Problem &problem, CostGraph graph);

  /// The least of seconds + multiplier * persistent bytes with some choices
  /// (node -> choice) of nodes with persistent terms, as eliminate() finds it:
  /// choices and bound are of all nodes. mayFix(fixed) must hold.
  EliminationResult minimise(double multiplier,
                             const std::map<unsigned, unsigned> &fixed,
                             size_t cellLimit, double cutoff);

  /// Whether only nodes are fixed that are left.
  bool mayFix(const std::map<unsigned, unsigned> &fixed) const;
  /// Table cells computed before.
  double workOfChains() const { return chains.work; }
  /// Nodes that are left.
  size_t size() const { return nodes.size(); }
  /// Of the edges between them.
  size_t cells() const;

private:
  const Problem &problem;
  CostGraph graph;
  Domains domains;
  BucketElimination chains;
  std::vector<unsigned> nodes; // of the problem, per node of `rest`
  CostGraph rest;              // over positions in the domains
  MessageTable messages;       // of the last elimination
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_PERSISTENTCORE_H
