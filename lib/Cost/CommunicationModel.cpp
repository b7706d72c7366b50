//===- CommunicationModel.cpp - Seconds of collectives --------------------===//
//
// p ranks, n bytes, latency a, b seconds per byte (formulas of NCCL's
// performance notes and MPICH). Across nodes a collective runs in each node,
// then between nodes with 1/g of the bytes per device, then in each node again.
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/Roofline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// One level of links
//===----------------------------------------------------------------------===//

static double latency(const Link &link) {
  return link.free ? 0 : link.latencySeconds;
}
static double transfer(const Link &link, double bytes) {
  return link.free ? 0 : bytes / link.bytesPerSecond;
}
static double levels(int64_t ranks) { return Log2_64_Ceil(ranks); }

/// n bytes of the whole, of which each rank gets or gives its share: a ring, or
/// halving and doubling where the count is a power of two.
static double scatterSeconds(const Link &link, int64_t p, double n) {
  double rounds = isPowerOf2_64(p) ? levels(p) : p - 1;
  return rounds * latency(link) + transfer(link, n * (p - 1) / p);
}

static double allReduceSeconds(const Link &link, int64_t p, double n) {
  double ring = 2 * scatterSeconds(link, p, n);
  double doubling = levels(p) * (latency(link) + transfer(link, n));
  return std::min(ring, doubling);
}

static double allToAllSeconds(const Link &link, int64_t p, double n) {
  return (p - 1) * latency(link) + transfer(link, n * (p - 1) / p);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

CommunicationModel::CommunicationModel(const Cluster &cluster, const Mesh &mesh)
    : cluster(cluster), mesh(mesh) {}

CommunicatorShape CommunicationModel::shapeOf(ArrayRef<unsigned> subAxes) {
  std::vector<unsigned> key(subAxes.begin(), subAxes.end());
  llvm::sort(key);
  auto [it, inserted] = shapes.try_emplace(key);
  CommunicatorShape &shape = it->second;
  if (!inserted)
    return shape;
  shape.ranks = mesh.product(key);
  for (int64_t device = 0; device < mesh.deviceCount(); ++device) {
    if (mesh.linearIndex(key, device) != 0)
      continue;
    std::map<int64_t, int64_t> ranksOfNode;
    for (int64_t member : mesh.group(key, device))
      ++ranksOfNode[cluster.nodeOf(member)];
    shape.nodes = std::max<int64_t>(shape.nodes, ranksOfNode.size());
    for (auto [node, ranks] : ranksOfNode)
      shape.ranksPerNode = std::max(shape.ranksPerNode, ranks);
  }
  return shape;
}

static double localSeconds(const ReshardStep &step, const DeviceType &device) {
  KernelWork work;
  work.bytes = 2 * step.bytes;
  work.launches = 1;
  return kernelSeconds(device, work);
}

double CommunicationModel::seconds(const ReshardStep &step) {
  if (isLocal(step.kind))
    return localSeconds(step, cluster.slowest());
  CommunicatorShape shape = shapeOf(step.subAxes);
  const Link &near = cluster.withinNode, &far = cluster.betweenNodes;
  int64_t g = shape.ranksPerNode, k = shape.nodes;
  double n = step.bytes, share = n / g;
  switch (step.kind) {
  case ReshardKind::AllReduce:
    if (k == 1)
      return allReduceSeconds(near, g, n);
    return 2 * scatterSeconds(near, g, n) + allReduceSeconds(far, k, share);
  case ReshardKind::AllGather:
  case ReshardKind::ReduceScatter:
    return scatterSeconds(near, g, n) +
           (k == 1 ? 0 : scatterSeconds(far, k, share));
  case ReshardKind::AllToAll:
    return allToAllSeconds(near, g, n) +
           (k == 1 ? 0 : allToAllSeconds(far, k, n));
  case ReshardKind::Halo: {
    const Link &link = k == 1 ? near : far;
    return 2 * latency(link) + transfer(link, n);
  }
  case ReshardKind::SliceBlock:
  case ReshardKind::KeepFirst:
    break;
  }
  return 0;
}

double CommunicationModel::sendSeconds(int64_t bytes, int64_t fromStage,
                                       int64_t toStage) const {
  int64_t devices = mesh.deviceCount();
  bool sameNode = true;
  for (int64_t device = 0; device < devices; ++device)
    sameNode &= cluster.nodeOf(fromStage * devices + device) ==
                cluster.nodeOf(toStage * devices + device);
  const Link &link = sameNode ? cluster.withinNode : cluster.betweenNodes;
  return latency(link) + transfer(link, bytes);
}

ReshardCost CommunicationModel::reshardCost(const Cluster &cluster,
                                            const Mesh &mesh) {
  auto model = std::make_shared<CommunicationModel>(cluster, mesh);
  return [model](const ReshardStep &step) { return model->seconds(step); };
}

} // namespace autopar
