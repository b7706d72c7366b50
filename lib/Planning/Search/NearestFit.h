//===- NearestFit.h - What would do where memory is short -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_NEARESTFIT_H
#define AUTOPAR_LIB_PLANNING_SEARCH_NEARESTFIT_H

#include "autopar/Planning/Search/Search.h"
#include "autopar/Planning/Solver/Solver.h"

namespace autopar {

/// Returns any plan for a request, or the reason why there is none.
using AnyPlan = llvm::function_ref<llvm::Expected<Plan>(const PlanRequest &)>;

/// Returns an error that says by how much the memory limit is too small. It
/// names the least limit and the fewest devices with a plan, of a few that are
/// tried. For a training step it also advises smaller blocks if these may help.
llvm::Error nearestFit(const ModelGraph &graph, const PlanRequest &request,
                       const NotEnoughMemory &shortage, AnyPlan search);

/// Returns such an error for a request that keeps decisions of an old plan. It
/// says whether a plan without them fits.
llvm::Error keptDoNotFit(const ModelGraph &graph, const PlanRequest &request,
                         const NotEnoughMemory &shortage, AnyPlan search);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_NEARESTFIT_H
