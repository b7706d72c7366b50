//===- Multipliers.cpp - Seconds per byte of rows that are too full -------===//

#include "Multipliers.h"
#include "BranchAndBound.h"
#include "SolverTuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// Tells which choices fit while a multiplier is raised: those whose row holds
/// no more than `rowLimit`, or those that are evaluated to fit.
struct RaiseGoal {
  bool byRow;
  int64_t rowLimit;
};

/// Raises the multiplier of one of the rows; the others keep theirs.
class RaiseMultiplier {
public:
  RaiseMultiplier(Relaxation &relaxation, Incumbent &incumbent,
                  RowMultipliers &rows, size_t index, RaiseGoal goal,
                  std::vector<unsigned> &choice)
      : relaxation(relaxation), incumbent(incumbent),
        question(incumbent.question), rows(rows), raised(rows[index]),
        goal(goal), choice(choice) {}

  /// Returns whether it found a multiplier under which a choice fits. The row
  /// then has the smallest such multiplier, and `choice` is the choice that it
  /// led to.
  bool run();

private:
  TriedMultiplier triedOf(double multiplier, ArrayRef<unsigned> solution,
                          bool isOptimum) const;
  bool tryAt(double multiplier, size_t cellLimit);
  bool raise();
  bool tryMeetings();
  bool goesOn() const {
    return incumbent.work.isLeft() && !incumbent.isCutOff();
  }

  Relaxation &relaxation;
  Incumbent &incumbent;
  const MemoryQuestion &question;
  RowMultipliers &rows;
  RowMultiplier &raised;
  RaiseGoal goal;
  std::vector<unsigned> &choice;
  LineSearch lines;
  bool isNew = true; // whether the last choice was new
};

} // namespace

/// Returns the line of a choice: its cost without the raised row's multiplier,
/// and the row's bytes above its limit.
TriedMultiplier RaiseMultiplier::triedOf(double multiplier,
                                         ArrayRef<unsigned> solution,
                                         bool isOptimum) const {
  double cost = question.problem.secondsOf(solution);
  for (const RowMultiplier &other : rows)
    if (other.row != raised.row)
      cost += other.multiplier * double(relaxation.bytesOf(solution, other));
  int64_t bytes = relaxation.bytesOf(solution, raised);
  return {multiplier, {cost, double(bytes - goal.rowLimit)}, isOptimum};
}

/// Tries a multiplier, and returns whether it led to a choice that fits.
bool RaiseMultiplier::tryAt(double multiplier, size_t cellLimit) {
  raised.multiplier = multiplier;
  RelaxedResult result = relaxation.minimise(question, incumbent.work, rows,
                                             cellLimit, question.cutoff);
  double bound = question.leastShare() * result.lowerBound;
  if (question.isExact())
    incumbent.lowerBound = std::max(incumbent.lowerBound, bound);
  else if (question.problem.memoryLimit &&
           raised.row != relaxation.sumOfRows()) // not a single row
    incumbent.estimate = std::max(incumbent.estimate, bound);
  isNew = true;
  if (result.cost == kIllegal)
    return false;
  incumbent.offer(result.choice);
  TriedMultiplier tried = triedOf(multiplier, result.choice, result.isOptimum);
  bool fits =
      goal.byRow ? tried.line.excess <= 0 : incumbent.fits(result.choice);
  isNew = lines.add(tried, fits);
  if (fits)
    choice = std::move(result.choice);
  return fits;
}

/// Raises the multiplier until a choice fits.
bool RaiseMultiplier::raise() {
  const CostLine &line = lines.full->line;
  double multiplier = 2 * lines.full->multiplier;
  // An evaluated choice may exceed the limit although its row does not.
  int64_t bytes = relaxation.bytesOf(choice, raised);
  int64_t excess =
      std::max(bytes - goal.rowLimit, goal.byRow ? 0 : bytes / 100);
  multiplier = std::max(multiplier, 1e-15 + line.seconds / double(excess + 1));
  double before = line.excess;
  unsigned unchanged = 0;
  for (unsigned i = 0; !tryAt(multiplier, question.options.roughCellLimit);
       ++i, multiplier *= kTuning.raise) {
    unchanged = lines.full->line.excess == before ? unchanged + 1 : 0;
    before = lines.full->line.excess;
    bool isVain = !goal.byRow && unchanged == kTuning.unchangedRaises;
    if (i == kTuning.raises || isVain ||
        incumbent.work.done > incumbent.work.limit || incumbent.isCutOff())
      return false;
  }
  return true;
}

/// Tries the multipliers at which the lines meet. Returns whether the bound is
/// settled: no choice is below both lines, so that there are no other choices
/// between them.
bool RaiseMultiplier::tryMeetings() {
  for (unsigned i = 0; i < kTuning.meetings && goesOn(); ++i) {
    double meeting = lines.meeting();
    if (!(meeting > lines.full->multiplier && meeting < lines.fit->multiplier))
      return false;
    bool fits = tryAt(meeting, question.options.roughCellLimit);
    if (!isNew && (fits ? lines.fit : lines.full)->isOptimum)
      return true;
  }
  return false;
}

bool RaiseMultiplier::run() {
  // It is not known which elimination found the choice.
  lines.full = triedOf(raised.multiplier, choice, /*isOptimum=*/false);
  if (!raise())
    return false;
  bool isSettled = tryMeetings();
  // The choices that fit with the least multiplier are the cheapest.
  for (unsigned i = 0; i < kTuning.halvings && !isSettled && goesOn(); ++i)
    tryAt((lines.full->multiplier + lines.fit->multiplier) / 2,
          question.options.roughCellLimit);
  if (!incumbent.isCutOff() && !lines.fit->isOptimum)
    tryAt(lines.fit->multiplier, question.options.cellLimit);
  raised.multiplier = lines.fit->multiplier;
  return true;
}

RowMultipliers findMultipliers(Relaxation &relaxation, Incumbent &incumbent,
                               int64_t rowLimit,
                               std::vector<unsigned> &choice) {
  const MemoryQuestion &question = incumbent.question;
  RowMultipliers rows;
  for (unsigned round = 0; round < kTuning.rounds && incumbent.work.isLeft() &&
                           !incumbent.isCutOff();
       ++round) {
    if (question.fitsRows(choice, rowLimit))
      break;
    size_t row = question.problem.fullestRow(choice);
    size_t index = llvm::find_if(rows,
                                 [&](const RowMultiplier &known) {
                                   return known.row == row;
                                 }) -
                   rows.begin();
    if (index == rows.size())
      rows.push_back(relaxation.rowMultiplier(row));
    if (!RaiseMultiplier(relaxation, incumbent, rows, index,
                         {/*byRow=*/true, rowLimit}, choice)
             .run())
      break;
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Rows that only estimate bytes
//===----------------------------------------------------------------------===//

/// Raises the multiplier of one row, or of all as one, until an evaluated
/// choice fits.
static RowMultipliers leadByRow(Relaxation &relaxation, Incumbent &incumbent,
                                size_t row, std::vector<unsigned> choice,
                                bool &isFound) {
  RowMultipliers rows = {relaxation.rowMultiplier(row)};
  isFound =
      RaiseMultiplier(relaxation, incumbent, rows, 0,
                      {/*byRow=*/false, incumbent.question.problem.memoryLimit},
                      choice)
          .run();
  return rows;
}

/// Gives each row a multiplier, under limits of rows that leave room for the
/// bytes that evaluated choices hold beside their rows.
static void leadByAllRows(Relaxation &relaxation, Incumbent &incumbent,
                          std::vector<unsigned> choice) {
  const MemoryQuestion &question = incumbent.question;
  for (unsigned i = 0; i < kTuning.rowLimits && incumbent.work.isLeft() &&
                       !incumbent.isCutOff();
       ++i) {
    int64_t excess = incumbent.evaluate(choice).bytes - question.memoryLimit();
    int64_t limit = question.problem.peakBytes(choice) - excess;
    if (excess <= 0 || limit <= 0)
      break;
    findMultipliers(relaxation, incumbent, limit, choice);
    if (!question.fitsRows(choice, limit))
      break;
  }
}

CostLine persistentLine(const Problem &problem, ArrayRef<unsigned> choice) {
  int64_t bytes = problem.persistentBytes(choice);
  return {problem.secondsOf(choice), double(bytes - problem.memoryLimit)};
}

/// Computes the bound of the persistent terms, which every evaluated choice
/// holds, under the best of a few multipliers. Choices may fit under the
/// multiplier `high`; if it is 0, the multiplier is raised until they do.
/// Returns the multiplier of the bound; 0 if the bound without one is the best.
static double boundByPersistent(Relaxation &relaxation, Incumbent &incumbent,
                                double high) {
  const MemoryQuestion &question = incumbent.question;
  const Problem &problem = question.problem;
  LineSearch lines;
  CostLine first = persistentLine(
      problem, relaxation.first(question, incumbent.work).choice);
  if (problem.memoryLimit == 0 || first.excess <= 0)
    return 0;
  lines.full = TriedMultiplier{0, first};
  double strongest = 0;
  double multiplier = high > 0 ? high : first.seconds / first.excess;
  auto isEnough = [&] {
    return question.mayProve() ? incumbent.lowerBound >= question.cutoff
                               : incumbent.isCutOff();
  };
  for (unsigned i = 0; i < kTuning.boundTries && !isEnough(); ++i) {
    bool isBracketed = lines.isBracketed();
    if (isBracketed)
      multiplier = lines.meeting();
    double most = isBracketed ? lines.full->line.at(multiplier) : kIllegal;
    if (multiplier <= 0 || question.leastShare() * most <=
                               (1 + kTuning.boundGain) * incumbent.lowerBound)
      break;
    RelaxedResult result = relaxation.minimise(
        question, incumbent.work,
        {relaxation.rowMultiplier(relaxation.persistentRow(), multiplier)},
        question.options.roughCellLimit, question.cutoff);
    double bound = question.leastShare() * result.lowerBound;
    if (bound > incumbent.lowerBound)
      strongest = multiplier;
    incumbent.lowerBound = std::max(incumbent.lowerBound, bound);
    if (result.cost == kIllegal)
      break;
    incumbent.offer(result.choice);
    CostLine line = persistentLine(problem, result.choice);
    bool isNew = lines.add({multiplier, line}, line.excess <= 0);
    if (isBracketed && !isNew)
      break;
    multiplier *= kTuning.raise;
  }
  return strongest;
}

RowMultipliers leadByRows(Relaxation &relaxation, Incumbent &incumbent,
                          const std::vector<unsigned> &choice) {
  const MemoryQuestion &question = incumbent.question;
  SearchWork &work = incumbent.work;
  size_t fullest = question.problem.fullestRow(choice);
  relaxation.makeCore(question, fullest, work);
  double highest = 0;
  auto lead = [&](size_t row) { // returns whether to go on
    bool isFound = false;
    for (const RowMultiplier &tried :
         leadByRow(relaxation, incumbent, row, choice, isFound))
      highest = std::max(highest, tried.multiplier);
    return (!isFound || question.isSmall()) && work.isLeft() &&
           !incumbent.isCutOff();
  };
  if (lead(fullest) && lead(relaxation.sumOfRows()))
    leadByAllRows(relaxation, incumbent, choice);
  if (!incumbent.best() && !question.isHopeless() && !incumbent.isCutOff() &&
      (question.isSmall() || incumbent.nearlyFits())) {
    work.limit = work.done + question.options.branchWork;
    branch(relaxation, incumbent,
           {relaxation.rowMultiplier(relaxation.sumOfRows(), highest)});
  }
  double multiplier = boundByPersistent(relaxation, incumbent, highest);
  if (multiplier == 0)
    return {};
  return {relaxation.rowMultiplier(relaxation.persistentRow(), multiplier)};
}

} // namespace autopar
