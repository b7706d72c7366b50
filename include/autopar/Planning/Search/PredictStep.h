//===- PredictStep.h - What a plan that was found takes ---------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_PREDICTSTEP_H
#define AUTOPAR_PLANNING_SEARCH_PREDICTSTEP_H

#include "autopar/Planning/Search/Search.h"

namespace autopar {

class PlanCost;

/// Returns the seconds of a step as the search computes them from the seconds
/// of the stages.
double stepSeconds(const PlanCost &cost, const Plan &plan);

/// Records in the plan what Partition will make of it. Collectives of all
/// stages and micro-batches: reshards in program order, those of composites,
/// and messages between stages. Seconds, with each shared reshard counted once.
/// The gap to `least`, the lower bound of the search: the seconds that sharing
/// saves are subtracted from the bound, too, so it holds for plans that save no
/// more than this one. The best of `tried` gets the same seconds.
void predictStep(const ModelGraph &graph, double least, Plan &plan,
                 llvm::MutableArrayRef<SearchTrial> tried);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_PREDICTSTEP_H
