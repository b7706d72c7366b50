//===- PlanEnumeration.h - The best of all plans ----------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_PLANENUMERATION_H
#define AUTOPAR_TEST_PROPERTY_PLANENUMERATION_H

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Planning/Search/Search.h"

namespace autopar::property {

/// Seconds of a step: of what `stageCosts` tells of each stage.
double stepSeconds(const Plan &plan, const ModelGraph &graph, ReadCost reads);

/// All plans that a request allows: of each mesh and number of micro-batches
/// that is tried, each choice of all decisions with each cut into stages.
double countPlans(const ModelGraph &graph, const PlanRequest &request);

/// What an enumeration came to.
struct BestPlan {
  double seconds = 0;       // of the best that is within the memory limit
  bool complete = true;     // it was not given up
  std::optional<Plan> plan; // of so many seconds, if it was looked at
};

/// The least seconds over all plans, as predictMemory and stageCosts have them,
/// each read at its own cost;
/// of plans that take `seconds` or more, which are not looked at, it is
/// `seconds`.
BestPlan enumeratePlans(const ModelGraph &graph, const PlanRequest &request,
                        double seconds);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_PLANENUMERATION_H
