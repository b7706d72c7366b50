//===- LineSearch.h - The next multiplier to try ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_LINESEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_LINESEARCH_H

#include <optional>

namespace autopar {

/// The cost of a choice as a linear function of the multiplier of a row:
/// `seconds` at 0, with the slope `excess`, the row's bytes above the limit.
struct CostLine {
  double seconds, excess;
  double at(double multiplier) const { return seconds + multiplier * excess; }
  bool operator==(const CostLine &o) const {
    return seconds == o.seconds && excess == o.excess;
  }
};

/// The choice that a multiplier led to.
struct TriedMultiplier {
  double multiplier;
  CostLine line;
  bool isOptimum = false; // no choice is cheaper under the multiplier
};

/// A search over the multiplier of one row. The least cost as a function of the
/// multiplier is concave and below the line of each choice: it is largest
/// between the last choice that is too full, whose line rises, and the last
/// that fits, and no larger than where their lines meet.
///
///   cost |   full /
///        |      / . fit
///        |    /  .   .        the meeting (.) is tried next
///        +---------------- multiplier
class LineSearch {
public:
  /// Adds a tried multiplier. Returns whether its choice has another line than
  /// the last one on its side.
  bool add(const TriedMultiplier &tried, bool fits) {
    std::optional<TriedMultiplier> &side = fits ? fit : full;
    bool isNew = !side || !(side->line == tried.line);
    side = tried;
    return isNew;
  }
  /// Returns whether there is a choice on each side.
  bool isBracketed() const { return full && fit; }
  /// Returns the multiplier at which both lines meet; there must be both.
  double meeting() const {
    return (fit->line.seconds - full->line.seconds) /
           (full->line.excess - fit->line.excess);
  }

  std::optional<TriedMultiplier> full, fit; // the last of each side
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_LINESEARCH_H
