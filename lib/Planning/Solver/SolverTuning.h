//===- SolverTuning.h - Numbers that the memory search is tuned by --------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_SOLVERTUNING_H
#define AUTOPAR_LIB_PLANNING_SOLVER_SOLVERTUNING_H

#include <cstddef>
#include <cstdint>

namespace autopar {

/// Sizes, tries and prices of the search within a memory limit. None of them
/// decides whether an answer is right: they share the budget of SolverOptions
/// out among the ways to find a better one.
struct SolverTuning {
  // Sizes of problems.

  /// Nodes up to which branch and bound finds a first choice that fits, and
  /// local search improves the best one.
  size_t smallProblem = 100;
  /// Nodes up to which branch and bound proves anything.
  size_t mostToProve = 1000;
  /// Cells of all edges up to which the budget pays for more than a few
  /// branches.
  size_t mostCells = size_t(1) << 22;

  // Work in table cells.

  /// Each node of an elimination costs as much as so many cells of a large
  /// table.
  double workPerNode = 1000;
  /// Message passing reads each cell of a MemoryCore so many times.
  double workPerCell = 20;
  /// Evaluating a choice cuts its stages and lists its work: per node.
  double workPerEvaluatedNode = 20000;

  // Multipliers.

  /// A choice whose rows exceed the limit by more than this factor does not fit
  /// in one stage: it is not evaluated.
  int64_t far = 2;
  /// Factor by which a multiplier grows until the row fits.
  double raise = 8;
  /// Raises of one multiplier, and those in a row that may change nothing.
  unsigned raises = 20, unchangedRaises = 3;
  /// Tries where the lines of a full and of a fitting choice meet.
  unsigned meetings = 6;
  /// Tries halfway between the last two multipliers.
  unsigned halvings = 3;
  /// Rows that get a multiplier one after the other.
  unsigned rounds = 30;
  /// Limits of rows that are tried where evaluated choices hold more than their
  /// rows say.
  unsigned rowLimits = 4;
  /// Share of the memory limit up to which an evaluated choice is near enough
  /// for branches around it.
  double near = 1.1;

  // The bound by what is held all the time.

  unsigned boundTries = 6;
  /// Share of the bound that another try must be able to gain.
  double boundGain = 1e-3;
  /// Tries per branch, and the factor by which its multiplier grows.
  unsigned branchTries = 3;
  double branchRaise = 2;

  // Local search.

  /// Choices that a group of nodes has together.
  size_t groupChoices = size_t(1) << 12;

  // Equality of seconds.

  /// Seconds that differ by this share are equal.
  double equal = 1e-9;
  /// Rounding of sums of seconds and multipliers, where evaluated seconds are
  /// summed up in another order.
  double rounding = 1e-12;
};

inline constexpr SolverTuning kTuning;

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_SOLVERTUNING_H
