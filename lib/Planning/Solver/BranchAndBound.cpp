//===- BranchAndBound.cpp - Choices fixed one after the other -------------===//

#include "MemorySearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// As minimise(), and where the persistent terms bind, under the multiplier of
/// theirs that bounds best what is left to choose: a few are tried, from
/// `multiplier` on, which becomes that of the bound.
EliminationResult MemorySearch::minimiseFixed(const Fixed &fixed,
                                              double &multiplier) {
  if (isTuning)
    active = {activeRow(persistentRow(), multiplier)};
  EliminationResult strongest = minimise(options.cellLimit, fixed);
  EliminationResult last = strongest;
  std::optional<Line> full, fit;
  double tried = multiplier;
  constexpr unsigned kTries = 3;
  for (unsigned i = 0; isTuning && i < kTries && last.cost < kIllegal; ++i) {
    if (leastShare() * strongest.lowerBound >= enough())
      break;
    Line line = persistentLine(last.choice);
    std::optional<Line> &side = line.excess > 0 ? full : fit;
    if (side == line)
      break; // nothing new comes
    side = line;
    if (tried == 0 && line.excess <= 0)
      break; // nothing binds
    if (!full)
      tried = 0;
    else if (!fit)
      tried *= 2;
    else
      tried = (fit->seconds - full->seconds) / (full->excess - fit->excess);
    if (tried < 0)
      break;
    active = {activeRow(persistentRow(), tried)};
    last = minimise(options.cellLimit, fixed);
    if (last.cost < kIllegal)
      offer(last.choice);
    if (last.lowerBound > strongest.lowerBound) {
      std::vector<unsigned> before = std::move(strongest.choice);
      double cost = strongest.cost;
      strongest = last;
      multiplier = tried;
      if (last.cost == kIllegal) { // what is known is still a choice
        strongest.choice = std::move(before);
        strongest.cost = cost;
      }
    }
  }
  return strongest;
}

/// The node whose choices differ most in bytes, or else any that is open: of
/// outcomes, which hold the persistent terms as they are, in theirs first.
std::optional<unsigned> MemorySearch::branchNode(const Fixed &fixed) const {
  std::vector<int64_t> counts(problem.nodes.size(), 0);
  if (!isExact())
    for (const MemoryTerm &term : problem.persistent)
      counts[term.index] += term.count;
  std::optional<unsigned> widest;
  std::pair<int64_t, int64_t> widestRange(-1, -1);
  for (const auto &[index, node] : enumerate(problem.nodes)) {
    if (fixed.count(index) || node.choices() == 1)
      continue;
    int64_t bytes = 0;
    if (!node.bytes.empty())
      bytes = *llvm::max_element(node.bytes) - *llvm::min_element(node.bytes);
    std::pair<int64_t, int64_t> range(counts[index] * bytes, bytes);
    if (range > widestRange) {
      widest = index;
      widestRange = range;
    }
  }
  return widest;
}

/// What promises most comes first. Where rows are not exact, their multipliers
/// lead to a first outcome that fits; without them, and with that of the
/// persistent terms, which are exact, bounds hold.
void MemorySearch::branch() {
  bool proves = isExact() || isBound();
  auto isLater = [](const Branch &a, const Branch &b) {
    return a.lowerBound > b.lowerBound;
  };
  std::vector<Branch> open;
  double openBound = kIllegal; // of branches where nothing was found
  auto add = [&](Fixed fixed, double multiplier, double boundOfAll) {
    EliminationResult result = minimiseFixed(fixed, multiplier);
    double bound = std::max(boundOfAll, leastShare() * result.lowerBound);
    if (result.cost == kIllegal) { // none there are, or none were found
      openBound = std::min(openBound, bound);
      return;
    }
    if (proves && bound >= enough()) {
      openBound = std::min(openBound, bound);
      return;
    }
    offer(result.choice);
    open.push_back(
        {bound, std::move(fixed), std::move(result.choice), multiplier});
    std::push_heap(open.begin(), open.end(), isLater);
  };
  double multiplier = active.empty() ? 0 : active.front().multiplier;
  isTuning = core && multiplier > 0 && isBound();
  add({}, multiplier, proves ? lowerBound : 0);
  while (!open.empty() && work < workLimit && (proves || !best)) {
    std::pop_heap(open.begin(), open.end(), isLater);
    Branch next = std::move(open.back());
    open.pop_back();
    if (best && next.lowerBound >= best->seconds) {
      open.clear();
      break;
    }
    std::optional<unsigned> node = branchNode(next.fixed);
    if (!node)
      continue;
    for (unsigned other = 0; other < problem.nodes[*node].choices(); ++other)
      if (isTuning || other != next.choice[*node]) {
        Fixed fixed = next.fixed;
        fixed[*node] = other;
        bool isBare = isTuning && next.multiplier == 0;
        add(std::move(fixed), isBare ? multiplier : next.multiplier,
            next.lowerBound);
      }
    if (isTuning)
      continue; // under another multiplier its bound may be more
    next.fixed[*node] = next.choice[*node];
    open.push_back(std::move(next));
    std::push_heap(open.begin(), open.end(), isLater);
  }
  for (const Branch &rest : open)
    openBound = std::min(openBound, rest.lowerBound);
  isTuning = false;
  if (proves)
    lowerBound = std::max(lowerBound,
                          std::min(openBound, best ? best->seconds : kIllegal));
}

} // namespace autopar
