//===- KeptText.h - What was kept of an old plan, in words ----------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_KEPTTEXT_H
#define AUTOPAR_PLANNING_CONSTRAINTS_KEPTTEXT_H

#include "autopar/Planning/Constraints/PlanRequest.h"

namespace autopar {

/// Copies the lower bound of the old plan to the new one if the old plan
/// answers the same request for the same model and makes the same decisions.
/// The bound of the old plan is better: its search was free to decide
/// otherwise.
void takeBound(Plan &plan, const Plan &old);

/// Returns lines for the plan's table: what was kept, and what was dropped and
/// why.
std::string describeKept(const PlanRequest &request, const ModelGraph &graph,
                         const Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_KEPTTEXT_H
