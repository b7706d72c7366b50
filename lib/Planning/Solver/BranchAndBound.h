//===- BranchAndBound.h - Branch and bound over fixed choices ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_BRANCHANDBOUND_H
#define AUTOPAR_LIB_PLANNING_SOLVER_BRANCHANDBOUND_H

#include "Relaxation.h"

namespace autopar {

/// Fixes the choices of node after node, the branch of the least bound first,
/// until no remaining branch is better than the incumbent or the work is done.
/// If the bounds under `rows` hold for evaluated choices, it raises the
/// incumbent's lower bound; otherwise it ends with the first choice that fits.
void branch(Relaxation &relaxation, Incumbent &incumbent, RowMultipliers rows);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_BRANCHANDBOUND_H
