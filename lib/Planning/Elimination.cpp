//===- Elimination.cpp - Cheapest choices of a graph of pairwise costs ----===//

#include "autopar/Planning/Elimination.h"
#include "BoundedSearch.h"
#include "BucketElimination.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static bool anyEmpty(const Domains &domains) {
  return any_of(domains, [](const auto &domain) { return domain.empty(); });
}

static EliminationResult illegal() {
  EliminationResult result;
  result.cost = result.lowerBound = kIllegal;
  return result;
}

/// What chains of nodes have left: exactly if that is cheap, else by bounds.
static EliminationResult solveRest(const CostGraph &graph, size_t cellLimit,
                                   double cutoff) {
  Domains domains = allChoices(graph);
  if (anyEmpty(domains))
    return illegal();
  dropDeadEnds(graph, domains);
  BucketElimination whole(graph, domains);
  double limit = std::min(cellLimit, kSmallTable);
  if (whole.largestTable(limit) > limit)
    return BoundedSearch(graph, std::move(domains), cellLimit, cutoff).run();
  whole.eliminateAll();
  if (whole.constant == kIllegal)
    return illegal();
  EliminationResult result;
  result.choice = whole.decode({}, {});
  result.cost = result.lowerBound = costOf(graph, result.choice);
  result.work = whole.work;
  return result;
}

EliminationResult eliminate(const CostGraph &graph, size_t cellLimit,
                            double cutoff) {
  Domains domains = allChoices(graph);
  if (anyEmpty(domains))
    return illegal();
  dropDeadEnds(graph, domains);
  BucketElimination chains(graph, domains);
  chains.eliminateChains(std::min(cellLimit, kSmallTable));
  std::vector<unsigned> nodes;
  CostGraph rest = chains.rest(nodes);
  EliminationResult result =
      solveRest(rest, cellLimit, cutoff - chains.constant);
  result.work += chains.work;
  result.lowerBound += chains.constant;
  if (result.cost == kIllegal || chains.constant == kIllegal) {
    result.cost = kIllegal;
    return result;
  }
  bool exact = result.cost + chains.constant <= result.lowerBound;
  // Choices of the rest are positions in the domains.
  result.choice = chains.decode(nodes, result.choice);
  result.cost = costOf(graph, result.choice);
  result.lowerBound =
      exact ? result.cost : std::min(result.lowerBound, result.cost);
  return result;
}

} // namespace autopar
