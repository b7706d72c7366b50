//===- Multipliers.h - Seconds per byte of rows that are too full ---------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MULTIPLIERS_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MULTIPLIERS_H

#include "LineSearch.h"
#include "Relaxation.h"

namespace autopar {

/// Gives multipliers to the rows that hold more than `rowLimit`, the fullest
/// first, until all fit or the work is done. `choice` begins as a choice that
/// is too full and ends as the cheapest found that is less so. All choices that
/// are found are offered to the incumbent.
RowMultipliers findMultipliers(Relaxation &relaxation, Incumbent &incumbent,
                               int64_t rowLimit, std::vector<unsigned> &choice);

/// Finds choices that fit where rows only estimate what is evaluated: under a
/// multiplier of the fullest row of `choice`, or else of all rows, as one or
/// each with its own; of a small problem all of these. Then finds the bound by
/// the persistent terms. Returns the multiplier of the bound, if there is one.
RowMultipliers leadByRows(Relaxation &relaxation, Incumbent &incumbent,
                          const std::vector<unsigned> &choice);

/// What a choice costs by the multiplier of the persistent terms.
CostLine persistentLine(const Problem &problem,
                        llvm::ArrayRef<unsigned> choice);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MULTIPLIERS_H
