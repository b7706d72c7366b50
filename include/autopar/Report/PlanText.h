//===- PlanText.h - The table that a person reads -------------------------===//

#ifndef AUTOPAR_REPORT_PLANTEXT_H
#define AUTOPAR_REPORT_PLANTEXT_H

#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Support/Text.h"
#include <string>

namespace autopar {

/// `12.3 ms predicted`, and of what, where steps overlap.
std::string stepText(const Plan &plan);

/// The table that a person reads.
std::string describe(const Plan &plan, const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_REPORT_PLANTEXT_H
