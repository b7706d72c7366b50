//===- MemorySearch.h - The best that fits the memory limit -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_MEMORYSEARCH_H
#define AUTOPAR_LIB_PLANNING_MEMORYSEARCH_H

#include "autopar/Planning/Elimination.h"
#include "autopar/Planning/Solver.h"
#include <map>
#include <optional>

namespace autopar {

/// Searches the best choices of all nodes at once, as far as the budget of
/// `options` goes.
class MemorySearch {
public:
  /// Both must outlive this; only the memory limit may change meanwhile.
  MemorySearch(const Problem &problem, const SolverOptions &options);

  /// The best without regard to memory, roughly; searched once.
  const EliminationResult &relax(double cutoff);
  /// The best within the memory limit; an error where no choices fit together
  /// or within the memory, or nothing is better than the cutoff.
  llvm::Expected<Solution> run(double cutoff);

private:
  struct ActiveRow {
    size_t row;
    double multiplier = 0; // seconds per byte
  };
  /// Choices that branching has fixed: node -> choice.
  using Fixed = std::map<unsigned, unsigned>;

  EliminationResult minimise(size_t cellLimit, const Fixed &fixed = {});
  CostGraph graphOf(const Fixed &fixed) const;
  int64_t bytesOf(llvm::ArrayRef<unsigned> choice, size_t row) const {
    return problem.persistentBytes(choice) +
           problem.bytesOf(choice, fullRows[row]);
  }
  size_t fullestRow(llvm::ArrayRef<unsigned> choice) const {
    return problem.rows.empty() ? 0 : problem.fullestRow(choice);
  }
  bool fits(llvm::ArrayRef<unsigned> choice) const {
    return !problem.memoryLimit ||
           problem.peakBytes(choice) <= problem.memoryLimit;
  }
  void offer(const std::vector<unsigned> &choice);
  void relaxFully();
  bool isGapOfInterest() const;
  bool isCutOff() const { return lowerBound >= cutoff; }
  bool findMultipliers(std::vector<unsigned> choice);
  bool raiseMultiplier(size_t active, std::vector<unsigned> &choice);
  void branch(Fixed fixed, llvm::ArrayRef<unsigned> choice);
  std::optional<unsigned> branchNode(const Fixed &fixed,
                                     llvm::ArrayRef<unsigned> choice) const;

  const Problem &problem;
  const SolverOptions &options;
  std::vector<MemoryRow> fullRows;
  std::optional<EliminationResult> relaxed;
  MessageTable messages; // of the last elimination

  // Of one run.
  double cutoff = kIllegal;
  std::vector<ActiveRow> active;
  std::optional<Solution> best;
  double lowerBound = 0;
  double work = 0, workLimit = 0;
  int64_t leastBytes = 0;
  /// Least bound of the branches that were cut short.
  double openBound = kIllegal;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_MEMORYSEARCH_H
