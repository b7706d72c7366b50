//===- CommunicationModel.cpp - Seconds of reshards and messages ----------===//

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/Roofline.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

CommunicationModel::CommunicationModel(const Cluster &cluster, const Mesh &mesh)
    : cluster(cluster), mesh(mesh),
      nearMessages(messageAlgorithms(cluster, /*sameNode=*/true)),
      farMessages(messageAlgorithms(cluster, /*sameNode=*/false)) {}

CommunicationModel::Communicator &
CommunicationModel::communicatorOf(ArrayRef<unsigned> subAxes) {
  uint64_t members = 0;
  for (unsigned subAxis : subAxes)
    members |= uint64_t(1) << subAxis;
  auto [it, inserted] = communicators.try_emplace(members);
  if (!inserted)
    return it->second;
  SmallVector<unsigned> key(subAxes);
  llvm::sort(key);
  CommunicatorShape &shape = it->second.shape;
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
    return localSeconds(step, cluster.slowest());
  Communicator &communicator = communicatorOf(step.subAxes);
  CollectiveAlgorithms &algorithms = communicator.algorithms[size_t(step.kind)];
  if (algorithms.empty())
    algorithms = collectiveAlgorithms(cluster, step.kind, communicator.shape);
  return fastest(algorithms, double(step.bytes))->seconds(double(step.bytes));
}

double CommunicationModel::sendSeconds(int64_t bytes, int64_t fromStage,
                                       int64_t toStage) const {
  int64_t devices = mesh.deviceCount();
  bool sameNode = true;
  for (int64_t device = 0; device < devices; ++device)
    sameNode &= cluster.nodeOf(fromStage * devices + device) ==
                cluster.nodeOf(toStage * devices + device);
  const CollectiveAlgorithms &messages = sameNode ? nearMessages : farMessages;
  return fastest(messages, double(bytes))->seconds(double(bytes));
}

ReshardCost CommunicationModel::reshardCost(const Cluster &cluster,
                                            const Mesh &mesh) {
  auto model = std::make_shared<CommunicationModel>(cluster, mesh);
  return [model](const ReshardStep &step) { return model->seconds(step); };
}

} // namespace autopar
