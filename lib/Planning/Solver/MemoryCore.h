//===- MemoryCore.h - Problem without nodes that hold no memory -----------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MEMORYCORE_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MEMORYCORE_H

#include "BucketElimination.h"
#include "autopar/Planning/Solver/Elimination.h"
#include <map>

namespace autopar {

/// A problem in which some nodes are eliminated: those that have neither
/// persistent terms nor terms of one row of memory, and at most two neighbours.
/// Multipliers of these terms, and fixed choices of nodes that have them, do
/// not change the eliminated nodes: they are eliminated once for all searches.
class MemoryCore {
public:
  /// The problem must outlive this. `graph` holds its seconds.
  MemoryCore(const Problem &problem, CostGraph graph,
             const MemoryTerms &row = {});

  /// Minimises seconds + multiplier * bytes, of the persistent terms and
  /// `terms`, with some choices fixed (node -> choice), like eliminate(). The
  /// choices and the bound are those of all nodes. `terms` are empty or those
  /// of the row. mayFix(fixed) must hold.
  EliminationResult minimise(double multiplier, const MemoryTerms &terms,
                             const std::map<unsigned, unsigned> &fixed,
                             size_t cellLimit, double cutoff);

  /// Returns whether all fixed nodes are among those that are left.
  bool mayFix(const std::map<unsigned, unsigned> &fixed) const;
  /// Returns the table cells that building the core computed.
  double workOfChains() const { return chains.work; }
  /// Returns the number of nodes that are left.
  size_t size() const { return nodes.size(); }
  /// Returns the number of cells of the edges between them.
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
  std::vector<unsigned> nodes;      // node of the problem per node of `rest`
  std::vector<unsigned> positionOf; // node of `rest` per node of the problem
  CostGraph rest;                   // over positions in the domains
  std::map<std::pair<unsigned, unsigned>, unsigned> edgeAt; // of `rest`
  MessageTable messages; // of the last elimination
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MEMORYCORE_H
