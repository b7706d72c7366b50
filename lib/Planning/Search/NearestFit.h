//===- NearestFit.h - What would do where memory is short -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_NEARESTFIT_H
#define AUTOPAR_LIB_PLANNING_SEARCH_NEARESTFIT_H

#include "autopar/Planning/Search/Search.h"
#include "autopar/Planning/Solver/Solver.h"

namespace autopar {

/// Any plan for a request, or why there is none.
using AnyPlan = llvm::function_ref<llvm::Expected<Plan>(const PlanRequest &)>;

/// An error that says by how much the memory limit is short, and, of a few that
/// are tried, the least limit and the fewest devices for which there is a plan;
/// of a training step also that smaller blocks need less, where they may do.
llvm::Error nearestFit(const ModelGraph &graph, const PlanRequest &request,
                       const NotEnoughMemory &shortage, AnyPlan search);

/// The same where decisions of an old plan are kept: whether a plan without
/// them fits.
llvm::Error keptDoNotFit(const ModelGraph &graph, const PlanRequest &request,
                         const NotEnoughMemory &shortage, AnyPlan search);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_NEARESTFIT_H
