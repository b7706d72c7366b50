//===- ExplainCluster.cpp - The same plan on another machine --------------===//

#include "ExplainText.h"
#include "autopar/Planning/Search/PredictStep.h"
#include "autopar/Report/PlanFacts.h"
#include "autopar/Report/PlanText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

static void computeTwiceAsFast(DeviceType &type) {
  for (double *rate :
       {&type.fp32Flops, &type.tf32Flops, &type.fp16Flops, &type.bf16Flops})
    *rate *= 2;
}

/// Doubles the memory bandwidth, including the rate at which kernels of
/// collectives move a tensor through memory.
static void moveTwiceAsFast(DeviceType &type) {
  for (double *rate :
       {&type.memoryBytesPerSecond, &type.collectiveBytesPerSecond,
        &type.lowLatencyBytesPerSecond})
    *rate *= 2;
}

static Cluster changedTypes(Cluster cluster,
                            function_ref<void(DeviceType &)> change) {
  for (NodeGroup &group : cluster.nodes)
    change(group.type);
  return cluster;
}

std::vector<ChangedCluster> changedClusters(const Plan &plan,
                                            const ModelGraph &graph) {
  std::vector<ChangedCluster> list;
  auto add = [&](StringRef text, Cluster cluster) {
    Plan changed = plan;
    changed.cluster = std::move(cluster);
    list.push_back(
        {text.str(), stepSeconds(PlanCost(changed, graph), changed)});
  };
  auto faster = [&](StringRef text, Link Cluster::*link,
                    SmallVector<LinkGroups, 0> Cluster::*levels) {
    Cluster cluster = plan.cluster;
    (cluster.*link).bytesPerSecond *= 2;
    for (LinkGroups &level : cluster.*levels)
      level.link.bytesPerSecond *= 2;
    add(text, std::move(cluster));
  };
  add("as it is", plan.cluster);
  if (any_of(plan.cluster.nodes,
             [](const NodeGroup &group) { return group.devices > 1; }))
    faster("links in a node of twice the rate", &Cluster::withinNode,
           &Cluster::deviceGroups);
  if (plan.cluster.nodeOf(plan.cluster.deviceCount() - 1) > 0)
    faster("links between nodes of twice the rate", &Cluster::betweenNodes,
           &Cluster::nodeGroups);
  add("devices of twice the operations per second",
      changedTypes(plan.cluster, computeTwiceAsFast));
  add("devices of twice the memory bandwidth",
      changedTypes(plan.cluster, moveTwiceAsFast));
  add("devices twice as fast in both",
      changedTypes(plan.cluster, [](DeviceType &type) {
        computeTwiceAsFast(type);
        moveTwiceAsFast(type);
      }));
  return list;
}

static std::string memoryText(const Plan &plan) {
  int64_t half = plan.cluster.memoryBytes() / 2;
  if (!half)
    return "";
  bool fits = plan.predictedPeakMemoryBytes <= half;
  return formatv("  half the memory ({0}): the plan {1}, it takes {2}\n",
                 bytesText(double(half)),
                 fits ? "still fits" : "does not fit any more",
                 bytesText(double(plan.predictedPeakMemoryBytes)));
}

std::string changedClustersText(const Plan &plan,
                                ArrayRef<ChangedCluster> changes) {
  double now = changes.front().stepSeconds;
  std::string text = "the same plan on another cluster, priced anew; a search "
                     "might find a better one there\n";
  for (const ChangedCluster &item : changes.drop_front())
    text += formatv("  {0,12} {1,12}  {2}\n", secondsText(item.stepSeconds),
                    signedSeconds(item.stepSeconds - now), item.text);
  return text + memoryText(plan);
}

} // namespace autopar
