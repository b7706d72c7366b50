//===- ExplainText.h - Parts of plans in words ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_EXPLAINTEXT_H
#define AUTOPAR_LIB_PLANNING_EXPLAINTEXT_H

#include "PlanCost.h"

namespace autopar {

/// Rows of a list before "and N others".
inline constexpr size_t kShownRows = 12;

/// `data: split 0, tensor: pass 1`; an axis whose primes do different things is
/// told prime by prime.
std::string strategyText(const Assignment &assignment, const Mesh &mesh);

/// `all_gather over x of 32.0 KiB: op a gives tensor t as ..., users want ...`
std::string reshardText(const ReshardPlace &place, const ModelGraph &graph,
                        const Mesh &mesh);

/// What a device of each stage does, a line per stage, which adds up to the
/// step. Only devices of pipelines have messages and are idle.
std::string stagesText(const PlanCost &cost, const Plan &plan);

/// `+12.1 us`
std::string signedSeconds(double seconds);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_EXPLAINTEXT_H
