//===- MemorySearch.h - The best that fits the memory limit -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MEMORYSEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MEMORYSEARCH_H

#include "MemoryCore.h"
#include "autopar/Planning/Solver/Solver.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

namespace autopar {

/// Searches the best choices of all nodes at once, as far as the budget of
/// `options` goes.
class MemorySearch {
public:
  /// The problem and the options must outlive this; only the memory limit may
  /// change meanwhile.
  MemorySearch(const Problem &problem, const SolverOptions &options,
               std::optional<Evaluator> outcomes = std::nullopt);

  /// The best without regard to memory, roughly; searched once.
  const EliminationResult &relax(double cutoff);
  /// The best within the memory limit; an error where no choices fit together
  /// or within the memory, or nothing is better than the cutoff.
  llvm::Expected<Solution> run(double cutoff);
  /// Solver::isRough of the last run.
  bool isRough() const { return rough; }

private:
  struct ActiveRow {
    size_t row;
    double multiplier; // seconds per byte
    MemoryTerms terms;
  };
  /// Choices that branching has fixed: node -> choice.
  using Fixed = std::map<unsigned, unsigned>;
  using Group = std::set<unsigned>; // of nodes
  /// What is left to search: the bound of all that is fixed so, and the best of
  /// the problem's seconds.
  struct Branch {
    double lowerBound;
    Fixed fixed;
    std::vector<unsigned> choice;
    double multiplier; // of the persistent terms
  };

  /// Seconds of choices by the multiplier of a row: without one, and how they
  /// grow with it, by the bytes above the limit.
  struct Line {
    double seconds, excess;
    bool operator==(const Line &o) const {
      return seconds == o.seconds && excess == o.excess;
    }
  };

  EliminationResult minimise(size_t cellLimit, const Fixed &fixed = {},
                             Effort effort = Effort::Quick);
  EliminationResult minimiseFixed(const Fixed &fixed, double &multiplier);
  CostGraph graphOf(const Fixed &fixed) const;
  int64_t bytesOf(llvm::ArrayRef<unsigned> choice, const ActiveRow &row) const {
    return problem.persistentBytes(choice) + problem.bytesOf(choice, row.terms);
  }
  /// Rows beside the problem's: of the persistent terms alone, of all rows as
  /// one.
  size_t persistentRow() const { return problem.rows.size(); }
  size_t sumOfRows() const { return problem.rows.size() + 1; }
  ActiveRow activeRow(size_t row, double multiplier = 0) const;

  /// Whether the problem's seconds and bytes are what counts.
  bool isExact() const { return !outcomes; }
  double leastShare() const { return isExact() ? 1 : outcomes->leastShare; }
  int64_t memoryLimit() const {
    return isExact() ? problem.memoryLimit : outcomes->memoryLimit;
  }
  Evaluation outcomeOf(const std::vector<unsigned> &choice);
  bool fits(const std::vector<unsigned> &choice) {
    return !memoryLimit() || outcomeOf(choice).bytes <= memoryLimit();
  }
  /// From so many seconds on nothing is of interest.
  double enough() const {
    return std::min(best ? best->seconds : kIllegal, cutoff);
  }
  void offer(const std::vector<unsigned> &choice);
  void relaxFully();
  bool isSmall() const;
  bool mayProve() const;
  bool isHopeless() const;
  bool nearlyFits() const;
  bool isOpen() const;
  bool isWorthProof() const;
  /// Whether nothing of interest is there; of a large problem, nothing likely.
  bool isCutOff() const {
    return std::max(lowerBound, isSmall() ? 0 : estimate) >= cutoff;
  }
  bool fitsRows(llvm::ArrayRef<unsigned> choice) const {
    return !problem.memoryLimit || problem.peakBytes(choice) <= rowLimit;
  }
  void makeCore(size_t row);
  bool isOfCore(const Fixed &fixed) const;
  void findMultipliers(std::vector<unsigned> &choice);
  void leadByRows(const std::vector<unsigned> &choice);
  bool leadByRow(size_t row, std::vector<unsigned> choice);
  void leadByAllRows(std::vector<unsigned> choice);
  bool raiseMultiplier(size_t active, std::vector<unsigned> &choice,
                       bool byRow);
  double boundByPersistent(double high);
  Line persistentLine(llvm::ArrayRef<unsigned> choice) const;
  /// Whether no multiplier is of a row that outcomes may not hold: bounds and
  /// cutoffs are then those of outcomes.
  bool isBound() const {
    return llvm::all_of(active, [&](const ActiveRow &row) {
      return row.row == persistentRow();
    });
  }
  void branch();
  void descend();
  std::vector<Group> groups() const;
  void chooseAnew(const Group &group);
  std::optional<unsigned> branchNode(const Fixed &fixed) const;
  Solution withBound(Solution solution) const {
    solution.lowerBound = std::min(solution.seconds, lowerBound);
    return solution;
  }

  const Problem &problem;
  const SolverOptions &options;
  std::optional<Evaluator> outcomes;
  std::optional<EliminationResult> relaxed;
  /// For multipliers of the persistent terms, and of one row.
  std::unique_ptr<MemoryCore> core;
  size_t rowOfCore = 0;
  bool isTuning = false;  // branch() tunes the multiplier of each branch
  MessageTable messages;  // of the last elimination without the core
  bool isOptimum = false; // what the last elimination found

  // Of one run.
  double cutoff = kIllegal;
  bool rough = false;
  std::vector<ActiveRow> active;
  std::map<std::vector<unsigned>, Evaluation> known;
  std::optional<Solution> best;
  double lowerBound = 0;
  double estimate = 0; // of the bound, by rows that are not exact
  int64_t rowLimit = 0;
  double work = 0, workLimit = 0;
  std::optional<int64_t> leastBytes; // of all outcomes
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MEMORYSEARCH_H
