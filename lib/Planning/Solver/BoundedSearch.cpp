//===- BoundedSearch.cpp - Bounds that make elimination affordable --------===//

#include "BoundedSearch.h"
#include "BucketElimination.h"
#include "autopar/Planning/Solver/DualBound.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace autopar {

/// Returns a number above the cost of every legal solution of interest.
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

/// Returns whether elimination over these domains was affordable. If the
/// domains hold every choice that can be best (`complete`), its solution is
/// optimal.
bool BoundedSearch::tryExact(const Domains &over, size_t limit, bool complete) {
  double largest = largestTable(graph, over, kHugeTable);
  if (complete)
    best.largestTable = largest;
  if (largest > double(limit))
    return false;
  BucketElimination elimination(graph, over);
  elimination.eliminateAll();
  work += elimination.work;
  if (elimination.constant < kIllegal)
    offer(elimination.decode({}, {}));
  if (complete)
    best.lowerBound = best.cost;
  return true;
}

/// Returns domains of the `width` most promising choices of each node. Choices
/// that `solutions` have come last: they are kept only where a node has too few
/// others.
Domains
BoundedSearch::narrowed(const DualBound &dual, size_t width,
                        ArrayRef<std::vector<unsigned>> solutions) const {
  Domains narrow = domains;
  std::vector<std::vector<double>> slacks = dual.slacks();
  for (auto [node, domain] : enumerate(narrow)) {
    auto isTaken = [&, node = node](unsigned choice) {
      return any_of(solutions, [&](const std::vector<unsigned> &solution) {
        return solution[node] == choice;
      });
    };
    std::vector<std::tuple<bool, double, unsigned>> order;
    for (auto [choice, slack] : zip_equal(domain, slacks[node]))
      order.push_back({isTaken(choice), slack, choice});
    llvm::sort(order);
    order.resize(std::min(order.size(), width));
    domain.clear();
    for (auto [taken, slack, choice] : order)
      domain.push_back(choice);
    llvm::sort(domain);
  }
  return narrow;
}

/// Finds a good solution early, in domains of a few choices per node.
void BoundedSearch::tryNarrow(const DualBound &dual) {
  for (size_t width : {6, 4, 3, 2})
    if (tryExact(narrowed(dual, width, {}), smallTable(), /*complete=*/false))
      return;
}

/// Drops the choices that bounds rule out, and returns whether so few are left
/// that elimination tried them all. Sets `changed` to whether any were dropped.
bool BoundedSearch::prove(const DualBound &dual, bool &changed) {
  changed = dual.prune(domains, best.cost);
  dropDeadEnds(graph, domains);
  return tryExact(domains, cellLimit, /*complete=*/true);
}

//===----------------------------------------------------------------------===//
// Search where a gap remains
//===----------------------------------------------------------------------===//

/// Returns the largest possible gain of a further search over the best known
/// cost (or the cutoff, if that is less), as a share of the lower bound.
double BoundedSearch::openShare() const {
  return (std::min(best.cost, cutoff) - lowerBound) / (lowerBound + elsewhere);
}

/// Returns, per node, the choices that some of the solutions have.
static Domains unionOf(ArrayRef<std::vector<unsigned>> solutions) {
  Domains domains(solutions.front().size());
  for (const std::vector<unsigned> &solution : solutions)
    for (auto [domain, choice] : zip_equal(domains, solution))
      domain.push_back(choice);
  for (std::vector<unsigned> &domain : domains) {
    llvm::sort(domain);
    domain.erase(llvm::unique(domain), domain.end());
  }
  return domains;
}

/// Searches around the best known solution. If its cost is not far above the
/// cutoff, it also searches around other solutions, which cost more but have
/// choices of their own, and around the best combination of their parts. The
/// less there is to gain, the fewer tries may fail. Its work is not counted in
/// `work`.
void BoundedSearch::searchWidely(const DualBound &dual) {
  constexpr double kLittle = 0.001, kPerTry = 0.01, kNear = 1.1;
  constexpr unsigned kMostStarts = 6, kMostInVain = 3;
  NeighbourhoodSearch nearby(graph, domains, smallTable());
  std::vector<std::vector<unsigned>> starts, found;
  unsigned inVain = 0;
  auto searchAround = [&](CostedChoice start) {
    nearby.improveTrees(start);
    nearby.improveRegions(start, lowerBound);
    inVain = start.cost < best.cost ? 0 : inVain + 1;
    offer(start.choice);
    found.push_back(std::move(start.choice));
  };
  auto isOver = [&] {
    return inVain >= kMostInVain ||
           openShare() < std::max(kLittle, kPerTry * inVain);
  };
  searchAround({best.cost, best.choice});
  if (best.cost + elsewhere > kNear * (cutoff + elsewhere))
    return;
  for (unsigned start = 0; start < kMostStarts && !isOver(); ++start) {
    std::optional<CostedChoice> other;
    for (size_t width : {3, 2, 1})
      if (!other)
        other = nearby.bestOver(narrowed(dual, width, found));
    if (!other || is_contained(starts, other->choice))
      return;
    starts.push_back(other->choice);
    searchAround(std::move(*other));
    if (isOver())
      return;
    other.reset(); // then join as many as is affordable
    for (ArrayRef rest(found); rest.size() > 1 && !other;
         rest = rest.drop_front())
      other = nearby.bestOver(unionOf(rest));
    if (other && other->cost < best.cost)
      searchAround(std::move(*other));
  }
}

EliminationResult BoundedSearch::run() {
  constexpr unsigned kPasses = 200;
  constexpr size_t kMostToWiden = 256; // nodes; more take seconds
  unsigned rounds = 3;
  double improved = kIllegal; // cost after the last improveTrees
  bool isProved = false, changed = true;
  bool isFew = graph.nodes.size() <= kMostToWiden;
  bool mayWiden = isFew && effort == Effort::Thorough;
  NeighbourhoodSearch nearby(graph, domains, smallTable());
  while (rounds-- > 0 && changed && !isProved) {
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
    if (best.cost < improved) {
      CostedChoice known{best.cost, best.choice};
      nearby.improveTrees(known);
      offer(std::move(known.choice));
    }
    improved = best.cost;
    isProved = prove(dual, changed);
    bool isLast = rounds == 0 || !changed;
    if (isProved || !isLast || !mayWiden || openShare() <= kWorthThorough)
      continue;
    // The solutions that it finds may rule out enough for another round.
    mayWiden = false;
    rounds = 1;
    DualBound left(graph, domains, cap(), messages);
    searchWidely(left);
    isProved = prove(left, changed);
  }
  if (!isProved)
    best.lowerBound = std::min(lowerBound, best.cost);
  best.isRough = !isProved && isFew && effort == Effort::Quick &&
                 openShare() > kWorthThorough;
  best.work = work + nearby.work;
  return best;
}

} // namespace autopar
