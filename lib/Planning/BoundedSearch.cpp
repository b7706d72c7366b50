//===- BoundedSearch.cpp - Bounds that make elimination affordable --------===//

#include "BoundedSearch.h"
#include "BucketElimination.h"
#include "DualBound.h"
#include "llvm/ADT/EquivalenceClasses.h"
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

/// Nodes that make trees with their edges: a node after the other, from `first`
/// on and round, that closes no cycle with those before.
static std::vector<bool>
forestFrom(const std::vector<SmallVector<unsigned, 4>> &neighbours,
           unsigned first, bool backwards) {
  size_t count = neighbours.size();
  std::vector<bool> isMember(count, false);
  EquivalenceClasses<unsigned> trees;
  for (size_t i = 0; i < count; ++i) {
    unsigned place = (first + i) % count;
    unsigned node = backwards ? count - 1 - place : place;
    SmallVector<unsigned, 4> touched;
    bool closes = any_of(neighbours[node], [&](unsigned other) {
      if (!isMember[other])
        return false;
      unsigned tree = trees.getLeaderValue(other);
      bool isKnown = is_contained(touched, tree);
      touched.push_back(tree);
      return isKnown;
    });
    if (closes)
      continue;
    isMember[node] = true;
    trees.insert(node);
    for (unsigned tree : touched)
      trees.unionSets(node, tree);
  }
  return isMember;
}

/// A large-neighbourhood search: all choices of trees of nodes at once beside
/// the others as they are, of other trees each time, until none is better.
void BoundedSearch::tryForests() {
  constexpr unsigned kMost = 16, kInVain = 4, kStarts = 7;
  size_t count = graph.nodes.size();
  std::vector<SmallVector<unsigned, 4>> neighbours(count);
  for (const CostGraph::Edge &edge : graph.edges) {
    neighbours[edge.a].push_back(edge.b);
    neighbours[edge.b].push_back(edge.a);
  }
  unsigned inVain = 0;
  for (unsigned turn = 0; turn < kMost && inVain < kInVain; ++turn) {
    std::vector<bool> isFree =
        forestFrom(neighbours, turn * count / kStarts % count, turn % 2 == 1);
    Domains over(count);
    for (unsigned node = 0; node < count; ++node) {
      unsigned now = best.choice[node];
      bool isWhole = isFree[node] && is_contained(domains[node], now);
      over[node] = isWhole ? domains[node] : std::vector<unsigned>{now};
    }
    double before = best.cost;
    tryExact(over, std::min(cellLimit, kSmallTable), /*complete=*/false);
    inVain = best.cost < before ? 0 : inVain + 1;
  }
}

EliminationResult BoundedSearch::run() {
  constexpr unsigned kRounds = 3, kPasses = 200;
  double lowerBound = 0, improved = kIllegal; // what trees made of the best
  for (unsigned round = 0; round < kRounds; ++round) {
    DualBound dual(graph, domains, cap(), messages);
    dual.improve(kPasses, std::min(best.cost, cutoff));
    lowerBound = std::max(lowerBound, dual.lowerBound());
    messages = dual.messages();
    if (lowerBound >= cutoff)
      break;
    offer(dual.greedy());
    tryNarrow(dual);
    if (best.cost == kIllegal)
      continue;
    if (best.cost < improved)
      tryForests();
    improved = best.cost;
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
