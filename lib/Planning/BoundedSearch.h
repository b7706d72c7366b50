//===- BoundedSearch.h - Bounds that make elimination cheap -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_BOUNDEDSEARCH_H
#define AUTOPAR_LIB_PLANNING_BOUNDEDSEARCH_H

#include "DualBound.h"

namespace autopar {

/// Tables that are computed without much thought.
inline constexpr size_t kSmallTable = size_t(1) << 19;
/// Tables that nobody computes.
inline constexpr size_t kHugeTable = size_t(1) << 30;

/// Seconds of these choices.
double costOf(const CostGraph &graph, llvm::ArrayRef<unsigned> choice);

/// Closes in on the best solution from both sides: bounds from moved costs drop
/// choices until elimination is affordable.
class BoundedSearch {
public:
  /// `messages`: where bounds start; gets where they ended.
  BoundedSearch(const CostGraph &graph, Domains domains, size_t cellLimit,
                double cutoff, MessageTable &messages)
      : graph(graph), domains(std::move(domains)), cellLimit(cellLimit),
        cutoff(cutoff), messages(messages) {
    best.cost = kIllegal;
  }
  /// Its lower bound equals its cost where it is proved to be best.
  EliminationResult run();

private:
  bool tryExact(const Domains &over, size_t limit, bool complete);
  void tryNarrow(const DualBound &dual);
  void tryForests();
  void offer(std::vector<unsigned> choice);
  double cap() const;

  const CostGraph &graph;
  Domains domains;
  size_t cellLimit;
  double cutoff;
  MessageTable &messages;
  EliminationResult best;
  double work = 0;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_BOUNDEDSEARCH_H
