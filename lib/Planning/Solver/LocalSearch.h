//===- LocalSearch.h - Local search over a few nodes ------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_LOCALSEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_LOCALSEARCH_H

#include "Incumbent.h"

namespace autopar {

/// Tries all other choices for a few nodes of the incumbent's best choice at a
/// time, as long as that improves it and work is left. Branches can miss
/// choices that fit because of memory that no row describes. There must be a
/// best choice.
void searchAround(Incumbent &incumbent);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_LOCALSEARCH_H
