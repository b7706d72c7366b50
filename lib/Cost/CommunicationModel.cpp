//===- CommunicationModel.cpp - Seconds of reshards and messages ----------===//

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/Roofline.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Cores copy what is sent in a node: where ranks share them, at their share.
static Cluster withShares(Cluster cluster) {
  double least = 1;
  for (const NodeGroup &group : cluster.nodes)
    least = std::min(least, group.share());
  cluster.withinNode.bytesPerSecond *= least;
  for (LinkGroups &level : cluster.deviceGroups)
    level.link.bytesPerSecond *= least;
  return cluster;
}

CommunicationModel::CommunicationModel(const Cluster &cluster, const Mesh &mesh)
    : cluster(withShares(cluster)), device(cluster.slowest()), mesh(mesh) {
  for (const Link &link : this->cluster.links())
    messages.push_back(messageAlgorithms(this->cluster, link));
}

CommunicatorShape CommunicationModel::shapeOf(ArrayRef<int64_t> members) const {
  std::map<int64_t, int64_t> ranksOfNode;
  CommunicatorShape shape;
  for (auto [index, member] : enumerate(members)) {
    ++ranksOfNode[cluster.nodeOf(member)];
    if (index == 0)
      continue;
    // Groups have neighbours, and members come in order.
    unsigned link = cluster.linkBetween(members[index - 1], member);
    std::optional<unsigned> &most =
        link <= cluster.deviceGroups.size() ? shape.near : shape.far;
    most = std::max(most.value_or(0), link);
  }
  shape.ranks = shape.fewestPerNode = int64_t(members.size());
  shape.nodes = int64_t(ranksOfNode.size());
  for (auto [node, ranks] : ranksOfNode) {
    shape.ranksPerNode = std::max(shape.ranksPerNode, ranks);
    shape.fewestPerNode = std::min(shape.fewestPerNode, ranks);
  }
  return shape;
}

CommunicationModel::Communicators &
CommunicationModel::communicatorsOf(ArrayRef<unsigned> subAxes) {
  uint64_t members = 0;
  for (unsigned subAxis : subAxes)
    members |= uint64_t(1) << subAxis;
  auto [it, inserted] = communicators.try_emplace(members);
  if (!inserted)
    return it->second;
  SmallVector<unsigned> sorted(subAxes);
  llvm::sort(sorted);
  SmallVector<CommunicatorShape, 1> &shapes = it->second.shapes;
  for (int64_t device = 0; device < mesh.deviceCount(); ++device) {
    if (mesh.linearIndex(sorted, device) != 0)
      continue;
    CommunicatorShape shape = shapeOf(mesh.group(sorted, device));
    if (!is_contained(shapes, shape))
      shapes.push_back(shape);
  }
  return it->second;
}

static double localSeconds(const ReshardStep &step, const DeviceType &device) {
  KernelWork work;
  work.bytes = 2 * step.bytes;
  work.launches = 1;
  return kernelSeconds(device, work);
}

double CommunicationModel::seconds(const ReshardStep &step) {
  if (isLocal(step.kind))
    return localSeconds(step, device);
  Communicators &all = communicatorsOf(step.subAxes);
  SmallVector<CollectiveAlgorithms, 1> &algorithms =
      all.algorithms[size_t(step.kind)];
  if (algorithms.empty())
    for (const CommunicatorShape &shape : all.shapes)
      algorithms.push_back(collectiveAlgorithms(cluster, step.kind, shape));
  double slowest = 0, bytes = double(step.bytes);
  for (const CollectiveAlgorithms &ofShape : algorithms)
    slowest = std::max(slowest, fastest(ofShape, bytes).seconds(bytes));
  return slowest;
}

double CommunicationModel::sendSeconds(int64_t bytes, int64_t fromStage,
                                       int64_t toStage) const {
  int64_t devices = mesh.deviceCount();
  SmallVector<bool> used(messages.size(), false);
  for (int64_t device = 0; device < devices; ++device)
    used[cluster.linkBetween(fromStage * devices + device,
                             toStage * devices + device)] = true;
  double slowest = 0;
  for (auto [isUsed, algorithms] : zip_equal(used, messages))
    if (isUsed)
      slowest = std::max(
          slowest, fastest(algorithms, double(bytes)).seconds(double(bytes)));
  return slowest;
}

ReshardCost CommunicationModel::reshardCost(const Cluster &cluster,
                                            const Mesh &mesh) {
  auto model = std::make_shared<CommunicationModel>(cluster, mesh);
  return [model](const ReshardStep &step) { return model->seconds(step); };
}

} // namespace autopar
