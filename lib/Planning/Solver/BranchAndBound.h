//===- BranchAndBound.h - Choices fixed one after the other ---------------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_BRANCHANDBOUND_H
#define AUTOPAR_LIB_PLANNING_SOLVER_BRANCHANDBOUND_H

#include "Relaxation.h"

namespace autopar {

/// Fixes the choices of node after node, the branch of the least bound first,
/// until all that is left is no better than the incumbent or the work is done.
/// Raises the incumbent's lower bound where the bounds under `rows` hold for
/// what is evaluated; under other rows it ends with the first choice that fits.
void branch(Relaxation &relaxation, Incumbent &incumbent, RowMultipliers rows);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_BRANCHANDBOUND_H
