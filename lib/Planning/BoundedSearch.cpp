//===- BoundedSearch.cpp - Bounds that make elimination affordable --------===//

#include "BoundedSearch.h"
#include "BucketElimination.h"
#include "DualBound.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace autopar {

double costOf(const CostGraph &graph, ArrayRef<unsigned> choice) {
  double cost = 0;
  for (const auto &[node, c] : zip_equal(graph.nodes, choice))
    cost += node[c];
  for (const CostGraph::Edge &edge : graph.edges)
    cost += edge.cells[choice[edge.a] * graph.nodes[edge.b].size() +
                       choice[edge.b]];
  return cost;
}

/// More than any solution costs that is legal.
double BoundedSearch::cap() const {
  if (best.cost < kIllegal)
    return 2 * best.cost + 1e-300;
  double sum = 1e-12;
  auto addMost = [&](ArrayRef<double> costs) {
    double most = 0;
    for (double cost : costs)
      most = cost < kIllegal ? std::max(most, cost) : most;
    sum += most;
  };
  for (const std::vector<double> &node : graph.nodes)
    addMost(node);
  for (const CostGraph::Edge &edge : graph.edges)
    addMost(edge.cells);
  return 2 * sum;
}

void BoundedSearch::offer(std::vector<unsigned> choice) {
  double cost = costOf(graph, choice);
  if (cost < best.cost) {
    best.cost = cost;
    best.choice = std::move(choice);
  }
}

/// Whether elimination over these domains was affordable. If they are all that
/// can be best, so is what it finds.
bool BoundedSearch::tryExact(const Domains &over, size_t limit, bool complete) {
  BucketElimination elimination(graph, over);
  double largest = elimination.largestTable(kHugeTable);
  if (complete)
    best.largestTable = largest;
  if (largest > double(limit))
    return false;
  elimination.eliminateAll();
  work += elimination.work;
  if (elimination.constant < kIllegal)
    offer(elimination.decode({}, {}));
  if (complete)
    best.lowerBound = best.cost;
  return true;
}

/// Elimination over the few most promising choices of each node: a good
/// solution soon.
void BoundedSearch::tryNarrow(const DualBound &dual) {
  std::vector<std::vector<double>> slacks = dual.slacks();
  for (size_t width : {6, 4, 3, 2}) {
    Domains narrow = domains;
    for (const auto &[domain, slack] : zip_equal(narrow, slacks)) {
      std::vector<unsigned> order(domain.size());
      std::iota(order.begin(), order.end(), 0);
      llvm::stable_sort(order, [&slack = slack](unsigned a, unsigned b) {
        return slack[a] < slack[b];
      });
      order.resize(std::min(order.size(), width));
      llvm::sort(order);
      std::vector<unsigned> kept;
      for (unsigned position : order)
        kept.push_back(domain[position]);
      domain = std::move(kept);
    }
    if (tryExact(narrow, std::min(cellLimit, kSmallTable), /*complete=*/false))
      return;
  }
}

EliminationResult BoundedSearch::run() {
  constexpr unsigned kRounds = 3, kPasses = 200;
  double lowerBound = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    DualBound dual(graph, domains, cap(), messages);
    dual.improve(kPasses, std::min(best.cost, cutoff));
    offer(dual.greedy());
    tryNarrow(dual);
    lowerBound = std::max(lowerBound, dual.lowerBound());
    messages = dual.messages();
    if (lowerBound >= cutoff)
      break;
    if (best.cost == kIllegal)
      continue;
    bool changed = dual.prune(domains, best.cost);
    dropDeadEnds(graph, domains);
    if (tryExact(domains, cellLimit, /*complete=*/true)) {
      best.work = work;
      return best;
    }
    if (!changed)
      break;
  }
  best.lowerBound = std::min(lowerBound, best.cost);
  best.work = work;
  return best;
}

} // namespace autopar
