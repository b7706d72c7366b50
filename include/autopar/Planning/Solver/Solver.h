//===- Solver.h - Best choices of a problem -------------------------------===//

#ifndef AUTOPAR_PLANNING_SOLVER_SOLVER_H
#define AUTOPAR_PLANNING_SOLVER_SOLVER_H

#include "autopar/Planning/Solver/Elimination.h"
#include <functional>
#include <memory>
#include <optional>

namespace autopar {

class Relaxation;
struct MemoryQuestion;

struct SolverOptions {
  /// Largest elimination table; beyond it the search is a heuristic with a gap.
  size_t cellLimit = size_t(1) << 24;
  /// The same while multipliers of memory are searched: bounds hold all the
  /// same.
  size_t roughCellLimit = size_t(1) << 20;
  /// Table cells to compute in search of memory multipliers, and in branch and
  /// bound to close the gap that they leave. Work, not time: same input, same
  /// answer.
  double multiplierWork = 1e9;
  double branchWork = 3e8;
  /// Where tables are too large.
  Effort effort = Effort::Quick;
};

/// The seconds and the bytes per device of a choice.
struct Evaluation {
  double seconds = kIllegal;
  int64_t bytes = 0;
};

/// Tells what choices really take and hold, where a problem's seconds and rows
/// of memory only estimate it.
struct Evaluator {
  /// Depends on the choice alone; seconds without those of deferred nodes.
  std::function<Evaluation(llvm::ArrayRef<unsigned> choice)> evaluate;
  /// No choice takes less than this times the problem's seconds, or holds less
  /// than its persistent terms.
  double leastShare = 1;
  int64_t memoryLimit = 0; // of evaluated bytes; 0: none
};

/// Whatever is chosen reaches the cutoff, or is likely to: proved is only that
/// it takes no less than `lowerBound`.
struct NothingCheaper : llvm::ErrorInfo<NothingCheaper> {
  explicit NothingCheaper(double lowerBound) : lowerBound(lowerBound) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  static char ID;
  double lowerBound; // seconds
};

/// No choices within the limit were found; the least bytes that were, 0 where
/// that is not known. Those that there may be take no less than `lowerBound`;
/// kIllegal: there are none.
struct NotEnoughMemory : llvm::ErrorInfo<NotEnoughMemory> {
  static char ID;
  NotEnoughMemory(int64_t limitBytes, int64_t leastBytes, double lowerBound = 0)
      : limitBytes(limitBytes), leastBytes(leastBytes), lowerBound(lowerBound) {
  }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  /// What is not known is no less than anything.
  bool isLessThan(const NotEnoughMemory &other) const {
    return leastBytes > 0 &&
           (other.leastBytes == 0 || leastBytes < other.leastBytes);
  }
  int64_t limitBytes, leastBytes;
  double lowerBound; // seconds
};

/// The choices of a problem, in two looks: a first one without regard to memory
/// tells whether a second is worth while.
class Solver {
public:
  /// `problem` must outlive this. The seconds and bytes of `evaluator` count in
  /// place of the problem's, which then lead the search.
  explicit Solver(const Problem &problem, const SolverOptions &options = {},
                  std::optional<Evaluator> evaluator = std::nullopt);
  ~Solver();

  /// Of all that is not deferred, in seconds of the problem.
  struct Outlook {
    double found;      // a solution's; kIllegal: none was found
    double lowerBound; // no solution takes less
    bool fits;         // the solution, the problem's memory
  };
  /// Solutions of `cutoff` seconds and more are of no interest, here and below:
  /// the search may stop with a large gap.
  Outlook look(double cutoff = kIllegal);

  /// The cheapest choices within the memory limit; verified. NotEnoughMemory
  /// where none fits. Seconds, bytes and the bound are the evaluator's, if
  /// there is one; choices that reach the cutoff keep those of the problem.
  llvm::Expected<Solution> solve(double cutoff = kIllegal);
  /// Whether a thorough search may find something better than what was solved.
  bool isRough() const { return rough; }

private:
  std::optional<Evaluator> evaluatorOfKept() const;
  MemoryQuestion questionOfKept(double cutoff) const;
  llvm::Expected<Solution> solveWhole(double cutoff);
  std::optional<Solution> withDeferred(const Solution &ofKept) const;

  const Problem &problem;
  SolverOptions options;
  std::optional<Evaluator> evaluator;
  /// What is not deferred, the numbers of its nodes, and its evaluator; empty
  /// where nothing is deferred.
  Problem part;
  std::vector<unsigned> kept;
  std::optional<Evaluator> partEvaluator;
  std::unique_ptr<Relaxation> relaxation; // of what is not deferred
  bool rough = false;
};

/// Tries every combination: the oracle of tests.
llvm::Expected<Solution> solveExhaustively(const Problem &problem);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_SOLVER_H
