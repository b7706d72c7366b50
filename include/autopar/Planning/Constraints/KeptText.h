//===- KeptText.h - What was kept of an old plan, in words ----------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_KEPTTEXT_H
#define AUTOPAR_PLANNING_CONSTRAINTS_KEPTTEXT_H

#include "autopar/Planning/Constraints/PlanRequest.h"

namespace autopar {

/// Where the old plan answers the same request of the same model and decides
/// the same, the new one gets the old one's bound, which is of a search that
/// was free.
void takeBound(Plan &plan, const Plan &old);

/// Lines for the plan's table: what was kept, what was dropped and why.
std::string describeKept(const PlanRequest &request, const ModelGraph &graph,
                         const Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_KEPTTEXT_H
