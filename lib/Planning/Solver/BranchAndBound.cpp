//===- BranchAndBound.cpp - Branch and bound over fixed choices -----------===//

#include "BranchAndBound.h"
#include "Multipliers.h"
#include "SolverTuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// A part of the search space that remains: all choices with those in `fixed`.
struct Branch {
  double lowerBound; // of all choices in the branch
  FixedChoices fixed;
  std::vector<unsigned> choice;           // the best by the problem's seconds
  double multiplier;                      // of the persistent terms
  bool operator<(const Branch &o) const { // heap: least bound first
    return lowerBound > o.lowerBound;
  }
};

class Brancher {
public:
  Brancher(Relaxation &relaxation, Incumbent &incumbent, RowMultipliers given)
      : relaxation(relaxation), incumbent(incumbent),
        question(incumbent.question), rows(std::move(given)),
        multiplier(rows.empty() ? 0 : rows.front().multiplier),
        proves(question.isExact() || relaxation.isBound(rows)),
        isTuning(relaxation.hasCore() && multiplier > 0 &&
                 relaxation.isBound(rows)) {}
  void run();

private:
  void add(FixedChoices fixed, double multiplier, double boundOfAll);
  void split(Branch next, unsigned node);
  EliminationResult minimise(const RowMultipliers &rows,
                             const FixedChoices &fixed);
  EliminationResult minimiseFixed(const FixedChoices &fixed,
                                  double &multiplier);
  EliminationResult tune(const FixedChoices &fixed, double &multiplier);
  std::optional<unsigned> branchNode(const FixedChoices &fixed) const;
  void offer(const std::vector<unsigned> &choice);
  RowMultipliers persistent(double multiplier) const {
    return {relaxation.rowMultiplier(relaxation.persistentRow(), multiplier)};
  }

  Relaxation &relaxation;
  Incumbent &incumbent;
  const MemoryQuestion &question;
  RowMultipliers rows;
  double multiplier;
  bool proves;   // bounds under the rows hold for evaluated choices, too
  bool isTuning; // each branch has a multiplier of its own
  std::vector<Branch> open;
  double openBound = kIllegal; // of branches that are not searched further
};

} // namespace

void Brancher::offer(const std::vector<unsigned> &choice) {
  // Branches under multipliers of persistent memory have many choices that
  // cannot fit.
  const Problem &problem = question.problem;
  if (!isTuning || problem.persistentBytes(choice) <= problem.memoryLimit)
    incumbent.offer(choice);
}

EliminationResult Brancher::minimise(const RowMultipliers &rows,
                                     const FixedChoices &fixed) {
  bool ofCore = isTuning && relaxation.isOfCore(rows, fixed);
  return relaxation.minimise(
      question, incumbent.work, rows, question.options.cellLimit,
      ofCore ? incumbent.enough() : question.cutoff, fixed);
}

/// Minimises under the multiplier of the persistent terms that gives the best
/// bound for the choices that are not fixed. Tries a few multipliers, beginning
/// with `multiplier`, which is set to that of the bound.
EliminationResult Brancher::tune(const FixedChoices &fixed,
                                 double &multiplier) {
  EliminationResult strongest = minimise(persistent(multiplier), fixed);
  EliminationResult last = strongest;
  LineSearch lines;
  double tried = multiplier;
  for (unsigned i = 0; i < kTuning.branchTries && last.cost < kIllegal; ++i) {
    if (question.leastShare() * strongest.lowerBound >= incumbent.enough())
      break;
    CostLine line = persistentLine(question.problem, last.choice);
    bool fits = !(line.excess > 0);
    if (!lines.add({tried, line}, fits) || (tried == 0 && fits))
      break; // no new choice, or the terms do not bind
    if (!lines.full)
      tried = 0;
    else
      tried = lines.fit ? lines.meeting() : tried * kTuning.branchRaise;
    if (tried < 0)
      break;
    last = minimise(persistent(tried), fixed);
    if (last.cost < kIllegal)
      offer(last.choice);
    if (last.lowerBound <= strongest.lowerBound)
      continue;
    multiplier = tried;
    EliminationResult before = std::exchange(strongest, last);
    if (last.cost == kIllegal) { // the known choice stays valid
      strongest.choice = std::move(before.choice);
      strongest.cost = before.cost;
    }
  }
  return strongest;
}

EliminationResult Brancher::minimiseFixed(const FixedChoices &fixed,
                                          double &multiplier) {
  return isTuning ? tune(fixed, multiplier) : minimise(rows, fixed);
}

/// Returns the node whose choices differ most in bytes, or otherwise any that
/// is open. If choices are evaluated, the bytes of the persistent terms count
/// first, since evaluated choices hold these exactly.
std::optional<unsigned> Brancher::branchNode(const FixedChoices &fixed) const {
  const Problem &problem = question.problem;
  std::vector<int64_t> counts(problem.nodes.size(), 0);
  if (!question.isExact())
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

/// Computes the bound of a branch, and keeps the branch open if it may have a
/// better choice.
void Brancher::add(FixedChoices fixed, double multiplier, double boundOfAll) {
  EliminationResult result = minimiseFixed(fixed, multiplier);
  double bound =
      std::max(boundOfAll, question.leastShare() * result.lowerBound);
  bool isFound = result.cost < kIllegal; // otherwise none exists or was found
  if (!isFound || (proves && bound >= incumbent.enough())) {
    openBound = std::min(openBound, bound);
    return;
  }
  offer(result.choice);
  open.push_back(
      {bound, std::move(fixed), std::move(result.choice), multiplier});
  std::push_heap(open.begin(), open.end());
}

/// Opens a branch per choice of the node. The branch with the choice that
/// `next` has for it keeps the bound of `next`, unless another multiplier may
/// give a better one.
void Brancher::split(Branch next, unsigned node) {
  for (unsigned other = 0; other < question.problem.nodes[node].choices();
       ++other) {
    if (!isTuning && other == next.choice[node])
      continue;
    FixedChoices fixed = next.fixed;
    fixed[node] = other;
    bool isBare = isTuning && next.multiplier == 0;
    add(std::move(fixed), isBare ? multiplier : next.multiplier,
        next.lowerBound);
  }
  if (isTuning)
    return;
  next.fixed[node] = next.choice[node];
  open.push_back(std::move(next));
  std::push_heap(open.begin(), open.end());
}

void Brancher::run() {
  add({}, multiplier, proves ? incumbent.lowerBound : 0);
  while (!open.empty() && incumbent.work.isLeft() &&
         (proves || !incumbent.best())) {
    std::pop_heap(open.begin(), open.end());
    Branch next = std::move(open.back());
    open.pop_back();
    if (incumbent.best() && next.lowerBound >= incumbent.best()->seconds) {
      open.clear();
      break;
    }
    if (std::optional<unsigned> node = branchNode(next.fixed))
      split(std::move(next), *node);
  }
  if (!proves)
    return;
  for (const Branch &rest : open)
    openBound = std::min(openBound, rest.lowerBound);
  double best = incumbent.best() ? incumbent.best()->seconds : kIllegal;
  incumbent.lowerBound =
      std::max(incumbent.lowerBound, std::min(openBound, best));
}

void branch(Relaxation &relaxation, Incumbent &incumbent, RowMultipliers rows) {
  Brancher(relaxation, incumbent, std::move(rows)).run();
}

} // namespace autopar
