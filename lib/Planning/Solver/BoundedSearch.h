//===- BoundedSearch.h - Bounds that make elimination cheap -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_BOUNDEDSEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_BOUNDEDSEARCH_H

#include "NeighbourhoodSearch.h"
#include "autopar/Planning/Solver/DualBound.h"

namespace autopar {

/// Tables of up to so many cells are always worth computing.
inline constexpr size_t kSmallTable = size_t(1) << 19;
/// Tables of more cells than this are never computed.
inline constexpr size_t kHugeTable = size_t(1) << 30;

/// Approaches the best solution from both sides: lower bounds from moved costs
/// drop choices until elimination is affordable.
class BoundedSearch {
public:
  /// `elsewhere` is the cost that all solutions have outside the graph.
  /// `messages` are the messages at which message passing starts, and is set to
  /// those at which it ended.
  BoundedSearch(const CostGraph &graph, Domains domains, size_t cellLimit,
                double cutoff, double elsewhere, Effort effort,
                MessageTable &messages)
      : graph(graph), domains(std::move(domains)), cellLimit(cellLimit),
        cutoff(cutoff), elsewhere(elsewhere), effort(effort),
        messages(messages) {
    best.cost = kIllegal;
  }
  /// Runs the search. The result's lower bound equals its cost where it is
  /// proved to be optimal.
  EliminationResult run();

private:
  size_t smallTable() const { return std::min(cellLimit, kSmallTable); }
  bool tryExact(const Domains &over, size_t limit, bool complete);
  Domains narrowed(const DualBound &dual, size_t width,
                   llvm::ArrayRef<std::vector<unsigned>> solutions) const;
  void tryNarrow(const DualBound &dual);
  bool prove(const DualBound &dual, bool &changed);
  double openShare() const;
  void searchWidely(const DualBound &dual);
  void offer(std::vector<unsigned> choice);
  double cap() const;

  const CostGraph &graph;
  Domains domains;
  size_t cellLimit;
  double cutoff, elsewhere;
  Effort effort;
  MessageTable &messages;
  EliminationResult best;
  double lowerBound = 0, work = 0;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_BOUNDEDSEARCH_H
