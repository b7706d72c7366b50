//===- MemoryCore.h - What is left beside what memory holds -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MEMORYCORE_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MEMORYCORE_H

#include "BucketElimination.h"
#include "autopar/Planning/Solver/Elimination.h"
#include <map>

namespace autopar {

/// A problem whose nodes without persistent terms, and without those of one row
/// of memory, are eliminated where they have at most two neighbours. Neither a
/// multiplier of these terms nor choices that are fixed of nodes with such
/// terms change these: they are eliminated once for all of both.
class MemoryCore {
public:
  /// The problem must outlive this. `graph`: its seconds.
  MemoryCore(const Problem &problem, CostGraph graph,
             const MemoryTerms &row = {});

  /// The least of seconds + multiplier * bytes, of the persistent terms and
  /// `terms`, with some choices (node -> choice), as eliminate() finds it:
  /// choices and bound are of all nodes. `terms`: none or those of the row.
  /// mayFix(fixed) must hold.
  EliminationResult minimise(double multiplier, const MemoryTerms &terms,
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
  void addNode(unsigned node, double weight, CostGraph &weighed) const;
  std::vector<double> &costsBetween(unsigned first, unsigned second,
                                    CostGraph &weighed) const;
  void addEdge(const ProblemEdge &edge, double weight,
               CostGraph &weighed) const;

  const Problem &problem;
  CostGraph graph;
  Domains domains;
  BucketElimination chains;
  std::vector<unsigned> nodes;      // of the problem, per node of `rest`
  std::vector<unsigned> positionOf; // in `rest`, per node of the problem
  CostGraph rest;                   // over positions in the domains
  std::map<std::pair<unsigned, unsigned>, unsigned> edgeAt; // of `rest`
  MessageTable messages; // of the last elimination
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MEMORYCORE_H
