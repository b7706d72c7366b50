//===- ExplainText.h - Parts of plans in words ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_EXPLAINTEXT_H
#define AUTOPAR_LIB_REPORT_EXPLAINTEXT_H

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Report/PlanFacts.h"

namespace autopar {

class SplitNames;

/// Returns a strategy as text, such as `data: split 0, tensor: pass 1`. If the
/// sub-axes of an axis have different choices, each sub-axis is listed. `note`
/// returns the text that follows the choice of an axis.
std::string strategyText(
    const Assignment &assignment, const Mesh &mesh,
    llvm::function_ref<std::string(unsigned axis, const Choice &choice)> note =
        [](unsigned, const Choice &) { return std::string(); });

/// Returns a reshard as text, such as `all_gather over x of 32.0 KiB: op a
/// gives tensor t as ..., users want ...`.
std::string reshardText(const ReshardPlace &place, const ModelGraph &graph,
                        const Mesh &mesh);

/// Returns a line for each stage with the times of one of its devices, which
/// add up to the step. Only devices of pipelines have messages and idle time.
std::string stagesText(llvm::ArrayRef<StageCost> stages, const Plan &plan);

/// Returns the seconds of the ops of each kernel class, dearest first.
std::vector<CostPart> classParts(PlanCost &cost, const ModelGraph &graph);

/// Return the legal alternatives to the planned strategy or sharding, cheapest
/// first.
std::vector<OtherWay> otherWaysOfOp(PlanCost &cost, const Plan &plan,
                                    const ModelGraph &graph,
                                    const SplitNames &names, unsigned op);
std::vector<OtherWay> otherWaysOfValue(PlanCost &cost, const Plan &plan,
                                       const ModelGraph &graph, unsigned value);

/// Returns the step on the plan's cluster as it is, then on changed clusters.
std::vector<ChangedCluster> changedClusters(const Plan &plan,
                                            const ModelGraph &graph);
std::string changedClustersText(const Plan &plan,
                                llvm::ArrayRef<ChangedCluster> changes);

/// Lists the tensors that take most memory on a device of the fullest stage.
std::string heldTensorsText(const Plan &plan, const ModelGraph &graph);

/// Returns seconds with a sign, such as `+12.1 us`.
std::string signedSeconds(double seconds);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_EXPLAINTEXT_H
