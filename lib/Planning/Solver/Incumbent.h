//===- Incumbent.h - The best choice so far, and what bounds it -----------===//

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

  /// The seconds and bytes that count; each choice is evaluated once. A choice
  /// whose rows exceed the limit by far is told to be too full by its rows.
  Evaluation evaluate(const std::vector<unsigned> &choice);
  bool fits(const std::vector<unsigned> &choice);
  /// Takes the choice if it fits and is better than the best.
  void offer(const std::vector<unsigned> &choice);

  const std::optional<Solution> &best() const { return solution; }
  /// Choices of as many seconds and more are of no interest.
  double enough() const {
    return std::min(solution ? solution->seconds : kIllegal, question.cutoff);
  }
  /// Whether the best is not proved to be so.
  bool isOpen() const;
  /// Whether no choice is below the cutoff; in a large problem, whether none is
  /// likely to be.
  bool isCutOff() const;
  /// Whether the evaluated choice of the least bytes, if there is one, is so
  /// near the limit that others around it may fit.
  bool nearlyFits() const;
  /// Of all evaluated choices; 0: there are none.
  int64_t leastBytes() const { return least.value_or(0); }
  /// With the bound, which is no more than its seconds.
  Solution withBound(Solution solution) const;

  const MemoryQuestion &question;
  SearchWork &work;
  double lowerBound = 0; // no choice that fits takes less
  double estimate = 0;   // of the bound, by rows that are not exact

private:
  std::optional<Solution> solution;
  std::map<std::vector<unsigned>, Evaluation> known;
  std::optional<int64_t> least; // bytes
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_INCUMBENT_H
