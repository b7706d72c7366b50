//===- ChoiceSearch.h - The best choice within the memory limit -----------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_CHOICESEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_CHOICESEARCH_H

#include "Relaxation.h"

namespace autopar {

/// Searches the best choice of all nodes that fits, as far as the budget of the
/// question goes. Returns an error if no choices fit together or within the
/// memory, or none is better than the cutoff. Sets `isRough` to whether a
/// thorough search may find something better.
llvm::Expected<Solution> searchChoice(const MemoryQuestion &question,
                                      Relaxation &relaxation, bool &isRough);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_CHOICESEARCH_H
