//===- Multipliers.h - Seconds per byte of rows that are too full ---------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MULTIPLIERS_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MULTIPLIERS_H

#include "LineSearch.h"
#include "Relaxation.h"

namespace autopar {

/// Gives multipliers to the rows that hold more than `rowLimit`, the fullest
/// first, until all fit or the work is done. `choice` is a choice that is too
/// full at first, and becomes the cheapest one found that is less full. All
/// choices that are found are offered to the incumbent.
RowMultipliers findMultipliers(Relaxation &relaxation, Incumbent &incumbent,
                               int64_t rowLimit, std::vector<unsigned> &choice);

/// Finds choices that fit, if rows only estimate the evaluated bytes. It tries
/// a multiplier of the fullest row of `choice`; if that fails, one of the sum
/// of all rows; then one for each row. For a small problem it does all of
/// these. Then it finds the bound by the persistent terms, and returns the
/// multiplier of the bound, if there is one.
RowMultipliers leadByRows(Relaxation &relaxation, Incumbent &incumbent,
                          const std::vector<unsigned> &choice);

/// Returns the cost of a choice as a function of the multiplier of the
/// persistent terms.
CostLine persistentLine(const Problem &problem,
                        llvm::ArrayRef<unsigned> choice);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MULTIPLIERS_H
