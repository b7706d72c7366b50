//===- PlanText.h - The table that a person reads -------------------------===//

#ifndef AUTOPAR_REPORT_PLANTEXT_H
#define AUTOPAR_REPORT_PLANTEXT_H

#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Support/Text.h"
#include <string>

namespace autopar {

/// Returns the predicted time of a step, such as `12.3 ms predicted`. If steps
/// overlap, the text says that it is the time from one step to the next.
std::string stepText(const Plan &plan);

/// Returns the table about the plan that a person reads.
std::string describe(const Plan &plan, const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_REPORT_PLANTEXT_H
