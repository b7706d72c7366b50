//===- Multipliers.cpp - Seconds per byte of what is too full -------------===//

#include "MemorySearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Raises the multiplier until the row fits. Then the lines that the solutions
/// below and above draw (costs against multiplier) meet where the bound may be
/// best: that is tried next, until nothing new comes. `choice` ends as the
/// solution of the smallest multiplier found under which the row fits, or its
/// outcome unless `byRow`.
bool MemorySearch::raiseMultiplier(size_t index, std::vector<unsigned> &choice,
                                   bool byRow) {
  size_t row = active[index].row;
  struct Point {
    double multiplier, cost; // cost without this row's multiplier
    int64_t bytes;
    bool exact; // no other solution is cheaper under the multiplier
  };
  auto pointOf = [&](double multiplier, ArrayRef<unsigned> solution) {
    double cost = problem.secondsOf(solution);
    for (const ActiveRow &other : active)
      if (other.row != row)
        cost += other.multiplier * double(bytesOf(solution, other));
    return Point{multiplier, cost, bytesOf(solution, active[index]), isOptimum};
  };
  Point low = pointOf(active[index].multiplier, choice), high = low;
  low.exact = high.exact = false; // of which run it is, is not known
  bool isFound = false;           // anything, at the last try
  auto tryAt = [&](double multiplier, bool rough = true) {
    active[index].multiplier = multiplier;
    EliminationResult result =
        minimise(rough ? options.roughCellLimit : options.cellLimit);
    double bound = leastShare() * result.lowerBound;
    if (isExact())
      lowerBound = std::max(lowerBound, bound);
    else if (problem.memoryLimit && row != sumOfRows())
      estimate =
          std::max(estimate, bound); // the sum fits where no row needs to
    isFound = result.cost < kIllegal;
    if (!isFound)
      return false;
    offer(result.choice);
    Point point = pointOf(multiplier, result.choice);
    bool fit = byRow ? point.bytes <= rowLimit : fits(result.choice);
    (fit ? high : low) = point;
    if (fit)
      choice = std::move(result.choice);
    return fit;
  };
  constexpr unsigned kRaises = 20, kUnchanged = 3, kMeetings = 6;
  // By its row there may seem to be enough.
  int64_t excess = std::max(low.bytes - rowLimit, byRow ? 0 : low.bytes / 100);
  double multiplier =
      std::max(2 * low.multiplier, 1e-15 + low.cost / double(excess + 1));
  int64_t before = low.bytes;
  unsigned unchanged = 0; // raises that came to the same bytes
  for (unsigned raise = 0; !tryAt(multiplier); ++raise, multiplier *= 8) {
    unchanged = low.bytes == before ? unchanged + 1 : 0;
    before = low.bytes;
    if (raise == kRaises || (!byRow && unchanged == kUnchanged) ||
        work > workLimit || isCutOff())
      return false;
  }
  bool isSettled = false;
  for (unsigned i = 0; i < kMeetings && work < workLimit && !isCutOff(); ++i) {
    double meeting = (high.cost - low.cost) / double(low.bytes - high.bytes);
    if (!(meeting > low.multiplier && meeting < high.multiplier))
      break;
    Point lowBefore = low, highBefore = high;
    bool fit = tryAt(meeting);
    const Point &before = fit ? highBefore : lowBefore;
    const Point &now = fit ? high : low;
    // Nothing is below both lines: between them there are no others.
    isSettled = isFound && now.exact && now.cost == before.cost &&
                now.bytes == before.bytes;
    if (isSettled)
      break;
  }
  // The solutions that fit with the least multiplier are the cheapest.
  constexpr unsigned kHalvings = 3;
  for (unsigned i = 0;
       i < kHalvings && !isSettled && work < workLimit && !isCutOff(); ++i)
    tryAt((low.multiplier + high.multiplier) / 2);
  if (!isCutOff() && !high.exact)
    tryAt(high.multiplier, /*rough=*/false);
  active[index].multiplier = high.multiplier;
  return true;
}

/// Gives multipliers to the rows that are too full until all fit.
void MemorySearch::findMultipliers(std::vector<unsigned> &choice) {
  constexpr unsigned kRounds = 30;
  for (unsigned round = 0; round < kRounds && work < workLimit && !isCutOff();
       ++round) {
    if (fitsRows(choice))
      return;
    size_t row = problem.fullestRow(choice);
    size_t index = 0;
    while (index < active.size() && active[index].row != row)
      ++index;
    if (index == active.size())
      active.push_back(activeRow(row));
    if (!raiseMultiplier(index, choice, /*byRow=*/true))
      return;
  }
}

bool MemorySearch::leadByRow(size_t row, std::vector<unsigned> choice) {
  active = {activeRow(row)};
  return raiseMultiplier(0, choice, /*byRow=*/false);
}

/// Under limits that leave to rows what outcomes take beside them.
void MemorySearch::leadByAllRows(std::vector<unsigned> choice) {
  constexpr unsigned kTries = 4;
  for (unsigned attempt = 0;
       attempt < kTries && work < workLimit && !isCutOff(); ++attempt) {
    int64_t excess = outcomeOf(choice).bytes - memoryLimit();
    int64_t limit = problem.peakBytes(choice) - excess;
    if (excess <= 0 || limit <= 0)
      break;
    rowLimit = limit;
    active.clear();
    findMultipliers(choice);
    if (!fitsRows(choice))
      break;
  }
  rowLimit = problem.memoryLimit;
}

/// Rows that are not exact lead to choices that fit: the fullest, or else all
/// of them, as one or each with a multiplier; of a small problem all of these.
void MemorySearch::leadByRows(const std::vector<unsigned> &choice) {
  double highest = 0;
  auto goesOn = [&](bool found) {
    for (const ActiveRow &row : active)
      highest = std::max(highest, row.multiplier);
    return (!found || isSmall()) && work < workLimit && !isCutOff();
  };
  makeCore(problem.fullestRow(choice));
  if (goesOn(leadByRow(problem.fullestRow(choice), choice)) &&
      goesOn(leadByRow(sumOfRows(), choice)))
    leadByAllRows(choice);
  if (!best && !isHopeless() && !isCutOff() && (isSmall() || nearlyFits())) {
    active = {activeRow(sumOfRows(), highest)};
    workLimit = work + options.branchWork;
    branch();
  }
  double multiplier = boundByPersistent(highest);
  active.clear();
  if (multiplier > 0)
    active.push_back(activeRow(persistentRow(), multiplier));
}

/// Whether what is held all the time is too much, whatever is chosen.
bool MemorySearch::isHopeless() const {
  int64_t least = 0;
  for (const MemoryTerm &term : problem.persistent)
    if (ArrayRef<int64_t> bytes = problem.nodes[term.index].bytes;
        !bytes.empty())
      least += term.count * *llvm::min_element(bytes);
  return problem.memoryLimit && least > problem.memoryLimit;
}

/// Whether the least outcome that rows led to, where there was one, is so near
/// the limit that others of theirs may fit.
bool MemorySearch::nearlyFits() const {
  constexpr double kNear = 1.1;
  return !leastBytes || double(*leastBytes) <= kNear * double(memoryLimit());
}

MemorySearch::Line
MemorySearch::persistentLine(ArrayRef<unsigned> choice) const {
  int64_t bytes = problem.persistentBytes(choice);
  return {problem.secondsOf(choice), double(bytes - problem.memoryLimit)};
}

/// The bound of the persistent terms, which every outcome holds, under the best
/// of a few multipliers. Under each the best choices draw a line (seconds by
/// multiplier) that no bound is above; those of the last choices that are too
/// full and that fit meet where the next is tried. Without a `high` under which
/// choices may fit (0) it is raised until they do. Returns the multiplier of
/// the bound; 0: that without one.
double MemorySearch::boundByPersistent(double high) {
  constexpr unsigned kTries = 6;
  constexpr double kGain = 1e-3; // of the bound, that another try is worth
  constexpr double kRaise = 8;
  Line full = persistentLine(relaxed->choice);
  if (problem.memoryLimit == 0 || full.excess <= 0)
    return 0;
  std::optional<Line> fit;
  double strongest = 0,
         multiplier = high > 0 ? high : full.seconds / full.excess;
  auto isEnough = [&] {
    return mayProve() ? lowerBound >= cutoff : isCutOff();
  };
  for (unsigned i = 0; i < kTries && !isEnough(); ++i) {
    if (fit)
      multiplier = (fit->seconds - full.seconds) / (full.excess - fit->excess);
    double most = fit ? full.seconds + multiplier * full.excess : kIllegal;
    if (multiplier <= 0 || leastShare() * most <= (1 + kGain) * lowerBound)
      break;
    active = {activeRow(persistentRow(), multiplier)};
    EliminationResult result = minimise(options.roughCellLimit);
    double bound = leastShare() * result.lowerBound;
    if (bound > lowerBound)
      strongest = multiplier;
    lowerBound = std::max(lowerBound, bound);
    if (result.cost == kIllegal)
      break;
    offer(result.choice);
    Line line = persistentLine(result.choice);
    if (fit && (line == full || line == *fit))
      break; // the same again
    if (line.excess <= 0)
      fit = line;
    else
      full = line;
    multiplier *= kRaise;
  }
  return strongest;
}

} // namespace autopar
