//===- ChoiceSearch.cpp - Elimination, multipliers, branch and bound ------===//
//
// If no memory limit binds, one elimination gives the answer. Otherwise rows of
// memory get multipliers (Relaxation.h): each relaxation is a lower bound for
// all choices that fit, and leads to choices that fit. Branch and bound closes
// the gap that remains between the bound and the best choice that fits, as far
// as its budget goes.
//
// If an evaluator tells the real seconds and bytes of choices, rows lead to
// choices that fit but prove nothing: the bound is that of the persistent
// terms, which every evaluated choice holds. Branch and bound fixes the choices
// of the nodes that have the most bytes among these terms.
//
//===----------------------------------------------------------------------===//

#include "ChoiceSearch.h"
#include "BranchAndBound.h"
#include "LocalSearch.h"
#include "Multipliers.h"
#include "SolverTuning.h"

using namespace llvm;

namespace autopar {

/// Improves the first relaxation: to the optimum, or, where its tables are too
/// large, as thoroughly as the options ask. Does nothing where memory is short
/// or little can be gained. Returns whether a thorough search may find more.
static bool relaxFully(const MemoryQuestion &question, Relaxation &relaxation,
                       SearchWork &work) {
  const SolverOptions &options = question.options;
  const RelaxedResult &relaxed = relaxation.first(question, work);
  double open = relaxed.cost - relaxed.lowerBound;
  bool cutOff = question.leastShare() * relaxed.lowerBound >= question.cutoff;
  bool tooLarge = relaxed.largestTable > double(options.cellLimit);
  bool isNear = open <= (tooLarge ? kWorthThorough * relaxed.lowerBound : 0);
  bool tooFull =
      relaxed.cost < kIllegal &&
      !question.fitsRows(relaxed.choice, question.problem.memoryLimit);
  if (isNear || cutOff || tooFull)
    return false;
  if (!tooLarge || options.effort == Effort::Thorough) {
    RelaxedResult better =
        relaxation.minimise(question, work, {}, options.cellLimit,
                            question.cutoff, /*fixed=*/{}, options.effort);
    better.lowerBound = std::max(better.lowerBound, relaxed.lowerBound);
    if (relaxed.cost < better.cost) {
      better.cost = relaxed.cost;
      better.choice = relaxed.choice;
    }
    relaxation.setFirst(std::move(better));
  }
  return relaxation.first(question, work).isRough;
}

/// Returns whether branch and bound may find a first choice, or prove
/// something. In larger problems it does so only where the persistent terms
/// bind.
static bool isWorthProof(const Relaxation &relaxation,
                         const Incumbent &incumbent,
                         const RowMultipliers &rows) {
  const MemoryQuestion &question = incumbent.question;
  if (question.isExact())
    return question.isSmall() || !incumbent.best();
  bool persistentBinds = relaxation.isBound(rows) && !rows.empty();
  return !question.isHopeless() &&
         (question.isSmall() || (question.mayProve() && persistentBinds &&
                                 (incumbent.best() || incumbent.isCutOff())));
}

/// Closes the gap between the bound and the best, if that is worth while.
static void closeGap(Relaxation &relaxation, Incumbent &incumbent,
                     RowMultipliers rows) {
  if (!incumbent.isOpen() || !isWorthProof(relaxation, incumbent, rows))
    return;
  SearchWork &work = incumbent.work;
  double budget = incumbent.question.options.branchWork;
  work.limit = work.done + budget;
  branch(relaxation, incumbent, std::move(rows));
  if (incumbent.best() && incumbent.isOpen() && incumbent.question.isSmall()) {
    work.limit = work.done + budget;
    searchAround(incumbent);
  }
}

/// Returns whether the relaxation's choice evaluates to the seconds of the
/// relaxation, and no better choice can be found or proved. Its evaluation may
/// be more, since stages send messages and may lie on slower devices.
static bool isAnswer(const Relaxation &relaxation, const Incumbent &incumbent,
                     double relaxedSeconds) {
  if (!incumbent.best())
    return false;
  bool isAsRelaxed =
      incumbent.best()->seconds <= (1 + kTuning.equal) * relaxedSeconds;
  return (incumbent.question.leastShare() == 1 && isAsRelaxed) ||
         !incumbent.isOpen() || !isWorthProof(relaxation, incumbent, {});
}

Expected<Solution> searchChoice(const MemoryQuestion &question,
                                Relaxation &relaxation, bool &isRough) {
  SearchWork work;
  relaxation.dropCore();
  isRough = relaxFully(question, relaxation, work);
  const RelaxedResult &relaxed = relaxation.first(question, work);
  Incumbent incumbent(question, work);
  incumbent.lowerBound = question.leastShare() * relaxed.lowerBound;
  bool isLimited = question.cutoff < kIllegal;
  if (isLimited && (relaxed.cost == kIllegal || incumbent.isCutOff()))
    return make_error<NothingCheaper>(incumbent.lowerBound);
  if (relaxed.cost == kIllegal)
    return createStringError(
        "no shardings of the ops fit together on this mesh");
  const Problem &problem = question.problem;
  if (!question.isExact() &&
      question.leastShare() * relaxed.cost >= question.cutoff)
    return incumbent.withBound({relaxed.choice,
                                problem.secondsOf(relaxed.choice),
                                problem.peakBytes(relaxed.choice), 0});
  incumbent.offer(relaxed.choice);
  if (isAnswer(relaxation, incumbent, relaxed.cost))
    return incumbent.withBound(*incumbent.best());
  RowMultipliers rows;
  if (!incumbent.fits(relaxed.choice)) {
    isRough = false;
    work.limit = work.done + question.options.multiplierWork;
    std::vector<unsigned> choice = relaxed.choice;
    rows = question.isExact() ? findMultipliers(relaxation, incumbent,
                                                problem.memoryLimit, choice)
                              : leadByRows(relaxation, incumbent, choice);
  }
  auto nothingFound = [&] {
    return !incumbent.best() || !(incumbent.best()->seconds < question.cutoff);
  };
  if (incumbent.lowerBound >= question.cutoff && nothingFound())
    return make_error<NothingCheaper>(incumbent.lowerBound);
  bool isUnlikely = incumbent.isCutOff();
  closeGap(relaxation, incumbent, std::move(rows));
  bool isProved = isLimited && incumbent.lowerBound >= question.cutoff;
  if ((isUnlikely || isProved) && nothingFound())
    return make_error<NothingCheaper>(incumbent.lowerBound);
  if (!incumbent.best())
    return make_error<NotEnoughMemory>(
        question.memoryLimit(), incumbent.leastBytes(),
        question.isHopeless() ? kIllegal : incumbent.lowerBound);
  return incumbent.withBound(*incumbent.best());
}

} // namespace autopar
