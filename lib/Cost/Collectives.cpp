//===- Collectives.cpp - Seconds of collectives on a cluster --------------===//

#include "autopar/Cost/Collectives.h"
#include "CollectiveFormulas.h"
#include <cmath>

using namespace llvm;

namespace autopar {

double latency(const Link &link) { return link.free ? 0 : link.latencySeconds; }

double secondsPerByte(const Link &link) {
  return link.free ? 0 : 1 / link.bytesPerSecond;
}

double CollectiveAlgorithm::seconds(double bytes) const {
  double share = 1;
  if (!shares.empty()) {
    auto row = size_t(std::log2(std::max(bytes / 64, 1.0)));
    share = shares[std::min(row, shares.size() - 1)];
  }
  return latencySeconds + bytes * secondsPerByte / share;
}

/// Returns whether a communicator uses no link that costs anything.
static bool isFree(const Cluster &cluster, const CommunicatorShape &shape) {
  return (shape.ranksPerNode == 1 || cluster.withinNode.free) &&
         (shape.nodes == 1 || cluster.betweenNodes.free);
}

CollectiveAlgorithms collectiveAlgorithms(const Cluster &whole,
                                          ReshardKind kind,
                                          const CommunicatorShape &shape) {
  Cluster cluster = whole;
  SmallVector<Link> links = whole.links();
  if (shape.near)
    cluster.withinNode = links[*shape.near];
  if (shape.far)
    cluster.betweenNodes = links[*shape.far];
  if (isFree(cluster, shape))
    return {{"free", ""}};
  if (cluster.slowest().kind == "gpu")
    return ncclAlgorithms(cluster, kind, shape);
  return runtimeAlgorithms(cluster, kind, shape);
}

CollectiveAlgorithms messageAlgorithms(const Cluster &cluster,
                                       const Link &link) {
  if (link.free)
    return {{"free", ""}};
  if (cluster.slowest().kind == "gpu")
    return ncclMessages(cluster.slowest(), link);
  return {{"message", "", latency(link), secondsPerByte(link)}};
}

const CollectiveAlgorithm &fastest(ArrayRef<CollectiveAlgorithm> algorithms,
                                   double bytes) {
  const CollectiveAlgorithm *best = &algorithms.front();
  double least = best->seconds(bytes);
  for (const CollectiveAlgorithm &algorithm : algorithms.drop_front()) {
    double seconds = algorithm.seconds(bytes);
    if (seconds >= least)
      continue;
    least = seconds;
    best = &algorithm;
  }
  return *best;
}

} // namespace autopar
