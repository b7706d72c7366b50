//===- PredictStep.h - What a plan that was found takes ---------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_PREDICTSTEP_H
#define AUTOPAR_PLANNING_SEARCH_PREDICTSTEP_H

#include "autopar/Planning/Search/Search.h"

namespace autopar {

class PlanCost;

/// The seconds of a step, added up from its stages as the search does it.
double stepSeconds(const PlanCost &cost, const Plan &plan);

/// Writes down what Partition makes of a plan that the search found: the
/// collectives, of all stages and micro-batches (reshards in the order of the
/// program, those of composites, what stages send each other); the seconds,
/// with what readers share; and the gap to `least`, the search's bound. What
/// sharing saves is taken off the bound, too: it holds for plans that save no
/// more than this one. The best of the trials is told to take as long.
void predictStep(const ModelGraph &graph, double least, Plan &plan,
                 llvm::MutableArrayRef<SearchTrial> tried);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_PREDICTSTEP_H
