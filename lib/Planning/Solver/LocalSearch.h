//===- LocalSearch.h - A few choices made anew ----------------------------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_LOCALSEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_LOCALSEARCH_H

#include "Incumbent.h"

namespace autopar {

/// Gives a few nodes of the incumbent's best choice at a time all other
/// choices, as long as that gains and work is left: memory that no row tells of
/// can hide choices that fit from branches. There must be a best choice.
void searchAround(Incumbent &incumbent);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_LOCALSEARCH_H
