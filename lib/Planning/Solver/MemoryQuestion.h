//===- MemoryQuestion.h - What is searched within a memory limit ----------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MEMORYQUESTION_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MEMORYQUESTION_H

#include "autopar/Planning/Solver/Solver.h"

namespace autopar {

/// A problem, how its choices are evaluated, and the budget of the search.
/// Nothing of it changes during a search.
struct MemoryQuestion {
  const Problem &problem;
  const SolverOptions &options;
  const Evaluator *evaluator; // null: the problem's seconds and bytes count
  double cutoff; // seconds: choices that take as much are of no interest

  /// Whether the problem's seconds and bytes are what counts.
  bool isExact() const { return !evaluator; }
  double leastShare() const { return isExact() ? 1 : evaluator->leastShare; }
  int64_t memoryLimit() const {
    return isExact() ? problem.memoryLimit : evaluator->memoryLimit;
  }
  /// Whether branch and bound finds a first choice that fits.
  bool isSmall() const;
  /// Whether branch and bound can prove anything.
  bool mayProve() const;
  /// Whether the persistent terms exceed the limit, whatever is chosen.
  bool isHopeless() const;
  /// The most that rows hold is at most `limit`, if there is one.
  bool fitsRows(llvm::ArrayRef<unsigned> choice, int64_t limit) const {
    return !problem.memoryLimit || problem.peakBytes(choice) <= limit;
  }
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MEMORYQUESTION_H
