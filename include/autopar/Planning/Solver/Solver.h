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
  /// The most cells of an elimination table. If a problem needs larger tables,
  /// the search is a heuristic with a gap.
  size_t cellLimit = size_t(1) << 24;
  /// The same limit while multipliers of memory are searched. Bounds hold
  /// nevertheless.
  size_t roughCellLimit = size_t(1) << 20;
  /// The table cells to compute in the search of memory multipliers, and in
  /// branch and bound, which closes the gap that they leave. The limits count
  /// work, not time, so that the same input always gets the same answer.
  double multiplierWork = 1e9;
  double branchWork = 3e8;
  /// The effort where tables are too large.
  Effort effort = Effort::Quick;
};

/// The seconds and the bytes per device of a choice.
struct Evaluation {
  double seconds = kIllegal;
  int64_t bytes = 0;
};

/// Tells the real seconds and bytes of choices, if a problem's seconds and rows
/// of memory only estimate them.
struct Evaluator {
  /// Evaluates a choice; the result depends on the choice alone, and its
  /// seconds lack those of deferred nodes.
  std::function<Evaluation(llvm::ArrayRef<unsigned> choice)> evaluate;
  /// Every choice takes at least `leastShare` times the problem's seconds, and
  /// holds at least its persistent terms.
  double leastShare = 1;
  int64_t memoryLimit = 0; // of evaluated bytes; 0: none
};

/// The error that all choices reach the cutoff, or are likely to. Only this is
/// proved: no choice takes less than `lowerBound`.
struct NothingCheaper : llvm::ErrorInfo<NothingCheaper> {
  explicit NothingCheaper(double lowerBound) : lowerBound(lowerBound) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  static char ID;
  double lowerBound; // seconds
};

/// The error that no choices within the limit were found. `leastBytes` is the
/// least that any choice found holds, 0 if that is not known. Choices that fit,
/// if there are any, take no less than `lowerBound`; it is kIllegal if there
/// are none.
struct NotEnoughMemory : llvm::ErrorInfo<NotEnoughMemory> {
  static char ID;
  NotEnoughMemory(int64_t limitBytes, int64_t leastBytes, double lowerBound = 0)
      : limitBytes(limitBytes), leastBytes(leastBytes), lowerBound(lowerBound) {
  }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  /// Returns whether this one's least bytes are less. Unknown bytes (0) are
  /// less than no others.
  bool isLessThan(const NotEnoughMemory &other) const {
    return leastBytes > 0 &&
           (other.leastBytes == 0 || leastBytes < other.leastBytes);
  }
  int64_t limitBytes, leastBytes;
  double lowerBound; // seconds
};

/// Finds the choices of a problem in two looks: a first one without regard to
/// memory tells whether a second is worth its time.
class Solver {
public:
  /// `problem` must outlive this. If there is an `evaluator`, its seconds and
  /// bytes count, and the problem's only lead the search.
  explicit Solver(const Problem &problem, const SolverOptions &options = {},
                  std::optional<Evaluator> evaluator = std::nullopt);
  ~Solver();

  /// The result of the first look, for the nodes that are not deferred, in
  /// seconds of the problem.
  struct Outlook {
    double found;      // cost of a solution; kIllegal if none was found
    double lowerBound; // no solution takes less
    bool fits;         // whether the solution fits the memory limit
  };
  /// Takes the first look. Solutions of `cutoff` seconds and more are of no
  /// interest, here and below: the search may stop with a large gap.
  Outlook look(double cutoff = kIllegal);

  /// Returns the cheapest choices within the memory limit, verified, or
  /// NotEnoughMemory if none fits. Seconds, bytes and the bound are the
  /// evaluator's, if there is one; choices that reach the cutoff keep those of
  /// the problem.
  llvm::Expected<Solution> solve(double cutoff = kIllegal);
  /// Returns whether a thorough search may find a better solution.
  bool isRough() const { return rough; }

private:
  std::optional<Evaluator> evaluatorOfKept() const;
  MemoryQuestion questionOfKept(double cutoff) const;
  llvm::Expected<Solution> solveWhole(double cutoff);
  std::optional<Solution> withDeferred(const Solution &ofKept) const;

  const Problem &problem;
  SolverOptions options;
  std::optional<Evaluator> evaluator;
  /// The problem of the nodes that are not deferred, the numbers of these
  /// nodes, and its evaluator; empty if no node is deferred.
  Problem part;
  std::vector<unsigned> kept;
  std::optional<Evaluator> partEvaluator;
  std::unique_ptr<Relaxation> relaxation; // of the nodes not deferred
  bool rough = false;
};

/// Tries every combination. Tests compare the solver with it.
llvm::Expected<Solution> solveExhaustively(const Problem &problem);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_SOLVER_H
