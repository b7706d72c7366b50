//===- MemoryQuestion.h - A search within a memory limit --------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MEMORYQUESTION_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MEMORYQUESTION_H

#include "autopar/Planning/Solver/Solver.h"

namespace autopar {

/// A problem, how its choices are evaluated, and the budget of the search. It
/// does not change during a search.
struct MemoryQuestion {
  const Problem &problem;
  const SolverOptions &options;
  const Evaluator *evaluator; // null if the problem's own numbers count
  double cutoff; // seconds from which on choices are of no interest

  /// Returns whether the problem's seconds and bytes are those that count.
  bool isExact() const { return !evaluator; }
  double leastShare() const { return isExact() ? 1 : evaluator->leastShare; }
  int64_t memoryLimit() const {
    return isExact() ? problem.memoryLimit : evaluator->memoryLimit;
  }
  /// Returns whether the problem is small enough for branch and bound to find a
  /// first choice that fits.
  bool isSmall() const;
  /// Returns whether the problem is small enough for branch and bound to prove
  /// anything.
  bool mayProve() const;
  /// Returns whether the persistent terms exceed the limit, whatever is chosen.
  bool isHopeless() const;
  /// Returns whether the fullest row holds at most `limit`, if there is a
  /// memory limit.
  bool fitsRows(llvm::ArrayRef<unsigned> choice, int64_t limit) const {
    return !problem.memoryLimit || problem.peakBytes(choice) <= limit;
  }
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MEMORYQUESTION_H
