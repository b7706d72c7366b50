//===- BranchAndBound.cpp - Choices fixed one after the other -------------===//

#include "BranchAndBound.h"
#include "Multipliers.h"
#include "SolverTuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// What is left to search.
struct Branch {
  double lowerBound; // of all choices with those that are fixed
  FixedChoices fixed;
  std::vector<unsigned> choice;           // the best by the problem's seconds
  double multiplier;                      // of the persistent terms
  bool operator<(const Branch &o) const { // in a heap: the least bound first
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
  bool proves;   // bounds under the rows are bounds of what is evaluated
  bool isTuning; // each branch has a multiplier of its own
  std::vector<Branch> open;
  double openBound = kIllegal; // of branches that are not searched further
};

} // namespace

void Brancher::offer(const std::vector<unsigned> &choice) {
  // Branches beside persistent memory have many that cannot fit.
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

/// Minimises under the multiplier of the persistent terms that bounds best what
/// is left to choose: a few are tried, from `multiplier` on, which becomes that
/// of the bound.
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
      break; // nothing new comes, or nothing binds
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
    if (last.cost == kIllegal) { // the choice that is known stays one
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

/// The node whose choices differ most in bytes, or else any that is open. Where
/// choices are evaluated, which hold the persistent terms as they are, the
/// bytes of these count first.
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

/// Bounds a branch; it stays open if it may have something better.
void Brancher::add(FixedChoices fixed, double multiplier, double boundOfAll) {
  EliminationResult result = minimiseFixed(fixed, multiplier);
  double bound =
      std::max(boundOfAll, question.leastShare() * result.lowerBound);
  bool isFound = result.cost < kIllegal; // else none there are, or were found
  if (!isFound || (proves && bound >= incumbent.enough())) {
    openBound = std::min(openBound, bound);
    return;
  }
  offer(result.choice);
  open.push_back(
      {bound, std::move(fixed), std::move(result.choice), multiplier});
  std::push_heap(open.begin(), open.end());
}

/// Opens a branch per choice of the node. The branch's own choice of it has the
/// bound that it had, unless another multiplier may tell a better one.
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
