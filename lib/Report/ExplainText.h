//===- ExplainText.h - Parts of plans in words ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_EXPLAINTEXT_H
#define AUTOPAR_LIB_REPORT_EXPLAINTEXT_H

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Report/PlanFacts.h"

namespace autopar {

class SplitNames;

/// `data: split 0, tensor: pass 1`; an axis whose primes do different things is
/// told prime by prime.
/// `note`: what follows the choice of an axis.
std::string strategyText(
    const Assignment &assignment, const Mesh &mesh,
    llvm::function_ref<std::string(unsigned axis, const Choice &choice)> note =
        [](unsigned, const Choice &) { return std::string(); });

/// `all_gather over x of 32.0 KiB: op a gives tensor t as ..., users want ...`
std::string reshardText(const ReshardPlace &place, const ModelGraph &graph,
                        const Mesh &mesh);

/// What a device of each stage does, a line per stage, which adds up to the
/// step. Only devices of pipelines have messages and are idle.
std::string stagesText(llvm::ArrayRef<StageCost> stages, const Plan &plan);

/// Seconds of the ops of each kernel class, dearest first.
std::vector<CostPart> classParts(PlanCost &cost, const ModelGraph &graph);

/// Legal ways beside the planned one, cheapest first.
std::vector<OtherWay> otherWaysOfOp(PlanCost &cost, const Plan &plan,
                                    const ModelGraph &graph,
                                    const SplitNames &names, unsigned op);
std::vector<OtherWay> otherWaysOfValue(PlanCost &cost, const Plan &plan,
                                       const ModelGraph &graph, unsigned value);

/// The plan's cluster as it is, then changed.
std::vector<ChangedCluster> changedClusters(const Plan &plan,
                                            const ModelGraph &graph);
std::string changedClustersText(const Plan &plan,
                                llvm::ArrayRef<ChangedCluster> changes);

/// What takes most memory on a device of the fullest stage.
std::string heldTensorsText(const Plan &plan, const ModelGraph &graph);

/// `+12.1 us`
std::string signedSeconds(double seconds);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_EXPLAINTEXT_H
