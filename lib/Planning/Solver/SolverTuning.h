//===- SolverTuning.h - Tuning parameters of the memory search ------------===//

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

  /// The most nodes of a problem in which branch and bound finds a first choice
  /// that fits, and local search improves the best one.
  size_t smallProblem = 100;
  /// The most nodes of a problem in which branch and bound proves anything.
  size_t mostToProve = 1000;
  /// The most cells of all edges for which the budget pays for more than a few
  /// branches.
  size_t mostCells = size_t(1) << 22;

  // Work in table cells.

  /// The work of eliminating a node, beside the cells of its table.
  double workPerNode = 1000;
  /// The number of times that message passing reads each cell of a MemoryCore.
  double workPerCell = 20;
  /// The work, per node, of evaluating a choice, which cuts stages and lists
  /// their work.
  double workPerEvaluatedNode = 20000;

  // Multipliers.

  /// A choice whose rows exceed the limit by more than this factor cannot fit,
  /// even in one stage: it is not evaluated.
  int64_t far = 2;
  /// The factor by which a multiplier grows until the row fits.
  double raise = 8;
  /// The most raises of one multiplier, and the most in succession that may
  /// change nothing.
  unsigned raises = 20, unchangedRaises = 3;
  /// The most tries at the point where the lines of a full and of a fitting
  /// choice meet.
  unsigned meetings = 6;
  /// The most tries halfway between the last two multipliers.
  unsigned halvings = 3;
  /// The most rows that get a multiplier one after the other.
  unsigned rounds = 30;
  /// The most limits of rows that are tried if evaluated choices hold more than
  /// their rows tell.
  unsigned rowLimits = 4;
  /// An evaluated choice that holds up to this share of the memory limit is
  /// near enough for branches around it.
  double near = 1.1;

  // The bound by the persistent terms.

  unsigned boundTries = 6;
  /// The least share of the bound that another try must be able to gain.
  double boundGain = 1e-3;
  /// The most tries per branch, and the factor by which its multiplier grows.
  unsigned branchTries = 3;
  double branchRaise = 2;

  // Local search.

  /// The most combinations of choices that a group of nodes may have.
  size_t groupChoices = size_t(1) << 12;

  // Equality of seconds.

  /// Seconds that differ by this share are equal.
  double equal = 1e-9;
  /// The rounding of sums of seconds and multipliers, since evaluated seconds
  /// are summed up in another order.
  double rounding = 1e-12;
};

inline constexpr SolverTuning kTuning;

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_SOLVERTUNING_H
