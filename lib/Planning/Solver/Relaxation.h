//===- Relaxation.h - Memory priced by multipliers ------------------------===//
//
// A row r of memory gets a multiplier m_r (seconds per byte). The minimum of
//   seconds + sum of m_r * (bytes_r - limit)
// is a lower bound for all choices that fit (Lagrange relaxation), and the
// choice that has it is the better a start the nearer m_r is to the best.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_RELAXATION_H
#define AUTOPAR_LIB_PLANNING_SOLVER_RELAXATION_H

#include "Incumbent.h"
#include "MemoryCore.h"
#include <memory>

namespace autopar {

/// A row of memory with its multiplier.
struct RowMultiplier {
  size_t row;        // of the problem, or one that Relaxation adds
  double multiplier; // seconds per byte
  MemoryTerms terms; // beside the persistent ones
};
using RowMultipliers = std::vector<RowMultiplier>;

/// Choices that are fixed: node -> choice.
using FixedChoices = std::map<unsigned, unsigned>;

struct RelaxedResult : EliminationResult {
  bool isOptimum = false; // no choice is cheaper under the multipliers
};

/// Finds cheapest choices under multipliers. It keeps what the eliminations of
/// one problem share: where message passing ended, and a MemoryCore.
class Relaxation {
public:
  /// The problem must outlive this; only its memory limit may change.
  Relaxation(const Problem &problem, const SolverOptions &options)
      : problem(problem), options(options) {}

  /// The numbers of two rows beside the problem's: one of the persistent terms
  /// alone, and one of the terms of all rows added up.
  size_t persistentRow() const { return problem.rows.size(); }
  size_t sumOfRows() const { return problem.rows.size() + 1; }
  RowMultiplier rowMultiplier(size_t row, double multiplier = 0) const;
  /// Returns the bytes of the row and of the persistent terms.
  int64_t bytesOf(llvm::ArrayRef<unsigned> choice,
                  const RowMultiplier &row) const {
    return problem.persistentBytes(choice) + problem.bytesOf(choice, row.terms);
  }
  /// Returns whether each row is that of the persistent terms. Evaluated
  /// choices hold these terms, too, so that bounds and cutoffs hold for
  /// evaluations.
  bool isBound(const RowMultipliers &rows) const;

  /// Builds the MemoryCore: eliminates, once for all later searches, the nodes
  /// that neither multipliers of `row` and of the persistent terms nor fixed
  /// choices change. Does so only where the problem is small enough for many
  /// such searches.
  void makeCore(const MemoryQuestion &question, size_t row, SearchWork &work);
  void dropCore() { core.reset(); }
  bool hasCore() const { return core != nullptr; }
  /// Returns whether the core can minimise under these multipliers and fixed
  /// choices.
  bool isOfCore(const RowMultipliers &rows, const FixedChoices &fixed) const;

  /// Returns the cheapest choice under the multipliers; its lower bound holds
  /// for all choices that fit. Choices of `cutoff` seconds or more, as they are
  /// evaluated, are of no interest.
  RelaxedResult minimise(const MemoryQuestion &question, SearchWork &work,
                         const RowMultipliers &rows, size_t cellLimit,
                         double cutoff, const FixedChoices &fixed = {},
                         Effort effort = Effort::Quick);

  /// Returns the best choice without regard to memory, roughly; it is searched
  /// once.
  const RelaxedResult &first(const MemoryQuestion &question, SearchWork &work);
  /// Replaces the result of `first` by a better one.
  void setFirst(RelaxedResult result) { relaxed = std::move(result); }

private:
  CostGraph graphOf(const RowMultipliers &rows,
                    const FixedChoices &fixed) const;

  const Problem &problem;
  const SolverOptions &options;
  std::optional<RelaxedResult> relaxed;
  std::unique_ptr<MemoryCore> core;
  size_t rowOfCore = 0;
  MessageTable messages; // of the last elimination without the core
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_RELAXATION_H
