//===- MemorySearch.h - The best that fits the memory limit -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_MEMORYSEARCH_H
#define AUTOPAR_LIB_PLANNING_MEMORYSEARCH_H

#include "autopar/Planning/Solver.h"

namespace autopar {

/// The best choices of all nodes at once, as far as the budget of `options`
/// goes; an error where no choices fit together or within the memory, or
/// nothing is better than the cutoff.
llvm::Expected<Solution> searchWithMemory(const Problem &problem,
                                          const SolverOptions &options);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_MEMORYSEARCH_H
