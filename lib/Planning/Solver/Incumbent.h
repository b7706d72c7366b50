//===- Incumbent.h - The best choice so far and its bounds ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_INCUMBENT_H
#define AUTOPAR_LIB_PLANNING_SOLVER_INCUMBENT_H

#include "MemoryQuestion.h"
#include <map>
#include <optional>

namespace autopar {

/// Work of a search, in table cells.
struct SearchWork {
  double done = 0, limit = 0;
  bool isLeft() const { return done < limit; }
};

/// The best choice of one search that was found to fit, and the bounds of those
/// that may be better.
class Incumbent {
public:
  /// Question and work must outlive this.
  Incumbent(const MemoryQuestion &question, SearchWork &work)
      : question(question), work(work) {}

  /// Returns the seconds and bytes that count; each choice is evaluated once. A
  /// choice whose rows exceed the limit by a factor of `kTuning.far` is not
  /// evaluated: it is reported as too full with the bytes of its rows.
  Evaluation evaluate(const std::vector<unsigned> &choice);
  bool fits(const std::vector<unsigned> &choice);
  /// Takes the choice if it fits and is better than the best.
  void offer(const std::vector<unsigned> &choice);

  const std::optional<Solution> &best() const { return solution; }
  /// Returns the seconds from which on choices are of no interest.
  double enough() const {
    return std::min(solution ? solution->seconds : kIllegal, question.cutoff);
  }
  /// Returns whether the best choice is not proved to be optimal.
  bool isOpen() const;
  /// Returns whether no choice is below the cutoff; in a large problem, whether
  /// none is likely to be.
  bool isCutOff() const;
  /// Returns whether the evaluated choice of the least bytes, if there is one,
  /// is so near the limit that others around it may fit.
  bool nearlyFits() const;
  /// Returns the least bytes of all evaluated choices; 0 if there are none.
  int64_t leastBytes() const { return least.value_or(0); }
  /// Returns the solution with the lower bound filled in, which is no more than
  /// the solution's seconds.
  Solution withBound(Solution solution) const;

  const MemoryQuestion &question;
  SearchWork &work;
  double lowerBound = 0; // no choice that fits takes less
  double estimate = 0;   // of the bound, from rows that only estimate bytes

private:
  std::optional<Solution> solution;
  std::map<std::vector<unsigned>, Evaluation> known;
  std::optional<int64_t> least; // bytes
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_INCUMBENT_H
