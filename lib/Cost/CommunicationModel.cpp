//===- CommunicationModel.cpp - Seconds of reshards and messages ----------===//

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/Roofline.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <map>
#include <mutex>

using namespace llvm;

namespace autopar {

/// The cluster with the links of ranks that share cores. Within a node cores
/// copy the bytes that are sent, at the share of a core that a rank has, and a
/// rank that is waited for gets its turn so much later.
static Cluster withShares(Cluster cluster) {
  double least = 1;
  for (const NodeGroup &group : cluster.nodes)
    least = std::min(least, group.share());
  auto slow = [&](Link &link) {
    link.bytesPerSecond *= least;
    link.latencySeconds /= least;
  };
  slow(cluster.withinNode);
  for (LinkGroups &level : cluster.deviceGroups)
    slow(level.link);
  return cluster;
}

/// The communicators by their sub-axes, a bit each. The first thread that asks
/// makes them; existing ones are read without a lock.
class CommunicationModel::Known {
public:
  explicit Known(size_t subAxes)
      : few(subAxes <= kFew ? size_t(1) << subAxes : 0) {}
  ~Known() {
    for (std::atomic<const Communicators *> &entry : few)
      delete entry.load();
  }

  const Communicators &
  get(uint64_t members, function_ref<std::unique_ptr<Communicators>()> make) {
    if (members >= few.size())
      return getOfMany(members, make);
    std::atomic<const Communicators *> &entry = few[members];
    if (const Communicators *made = entry.load(std::memory_order_acquire))
      return *made;
    std::unique_ptr<Communicators> made = make();
    const Communicators *before = nullptr;
    if (!entry.compare_exchange_strong(before, made.get()))
      return *before; // another thread's are the same
    return *made.release();
  }

private:
  static constexpr size_t kFew = 14; // sub-axes

  const Communicators &
  getOfMany(uint64_t members,
            function_ref<std::unique_ptr<Communicators>()> make) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<Communicators> &entry = many[members];
    if (!entry)
      entry = make();
    return *entry;
  }

  std::vector<std::atomic<const Communicators *>> few;
  std::mutex mutex;
  std::map<uint64_t, std::unique_ptr<Communicators>> many;
};

CommunicationModel::CommunicationModel(const Cluster &cluster, const Mesh &mesh)
    : cluster(withShares(cluster)), device(cluster.slowest()), mesh(mesh),
      known(std::make_shared<Known>(mesh.subAxes().size())) {
  for (const Link &link : this->cluster.links())
    messages.push_back(messageAlgorithms(this->cluster, link));
}

CommunicatorShape CommunicationModel::shapeOf(ArrayRef<int64_t> members) const {
  SmallVector<int64_t> ranksOfNodes;
  int64_t lastNode = -1;
  CommunicatorShape shape;
  for (auto [index, member] : enumerate(members)) {
    int64_t node = cluster.nodeOf(member);
    if (node != lastNode)
      ranksOfNodes.push_back(0);
    lastNode = node;
    ++ranksOfNodes.back();
    if (index == 0)
      continue;
    // Groups consist of neighbours and members come in order, so the largest
    // link between neighbours reaches all.
    unsigned link = cluster.linkBetween(members[index - 1], member);
    std::optional<unsigned> &most =
        link <= cluster.deviceGroups.size() ? shape.near : shape.far;
    most = std::max(most.value_or(0), link);
  }
  shape.ranks = shape.fewestPerNode = int64_t(members.size());
  shape.nodes = int64_t(ranksOfNodes.size());
  for (int64_t ranks : ranksOfNodes) {
    shape.ranksPerNode = std::max(shape.ranksPerNode, ranks);
    shape.fewestPerNode = std::min(shape.fewestPerNode, ranks);
  }
  return shape;
}

std::unique_ptr<CommunicationModel::Communicators>
CommunicationModel::makeCommunicators(ArrayRef<unsigned> subAxes) const {
  auto made = std::make_unique<Communicators>();
  SmallVector<unsigned> sorted(subAxes), others;
  llvm::sort(sorted);
  for (const auto &[index, subAxis] : enumerate(mesh.subAxes()))
    if (!subAxis.time && !is_contained(sorted, index))
      others.push_back(index);
  for (int64_t first : mesh.group(others, 0)) {
    CommunicatorShape shape = shapeOf(mesh.group(sorted, first));
    if (!is_contained(made->shapes, shape))
      made->shapes.push_back(shape);
  }
  for (auto [kind, algorithms] : enumerate(made->algorithms))
    if (!isLocal(ReshardKind(kind)))
      for (const CommunicatorShape &shape : made->shapes)
        algorithms.push_back(
            collectiveAlgorithms(cluster, ReshardKind(kind), shape));
  return made;
}

const CommunicationModel::Communicators &
CommunicationModel::communicatorsOf(ArrayRef<unsigned> subAxes) const {
  uint64_t members = 0;
  for (unsigned subAxis : subAxes)
    members |= uint64_t(1) << subAxis;
  return known->get(members, [&] { return makeCommunicators(subAxes); });
}

static double localSeconds(const ReshardStep &step, const DeviceType &device) {
  KernelWork work;
  work.bytes = 2 * step.bytes;
  work.launches = 1;
  return kernelSeconds(device, work);
}

double CommunicationModel::seconds(const ReshardStep &step) const {
  if (isLocal(step.kind))
    return localSeconds(step, device);
  const Communicators &all = communicatorsOf(step.subAxes);
  double slowest = 0, bytes = double(step.bytes);
  for (const CollectiveAlgorithms &ofShape : all.algorithms[size_t(step.kind)])
    slowest = std::max(slowest, fastest(ofShape, bytes).seconds(bytes));
  return slowest;
}

CommunicationModel::StageLinks
CommunicationModel::linksBetween(int64_t fromStage, int64_t toStage) const {
  int64_t devices = mesh.deviceCount();
  StageLinks links;
  for (int64_t device = 0; device < devices; ++device) {
    unsigned link = cluster.linkBetween(fromStage * devices + device,
                                        toStage * devices + device);
    if (!is_contained(links, link))
      links.push_back(link);
  }
  llvm::sort(links);
  return links;
}

double CommunicationModel::sendSeconds(int64_t bytes,
                                       ArrayRef<unsigned> links) const {
  double slowest = 0;
  for (unsigned link : links)
    slowest = std::max(
        slowest, fastest(messages[link], double(bytes)).seconds(double(bytes)));
  return slowest;
}

ReshardCost CommunicationModel::reshardCost(const Cluster &cluster,
                                            const Mesh &mesh) {
  auto model = std::make_shared<CommunicationModel>(cluster, mesh);
  return [model](const ReshardStep &step) { return model->seconds(step); };
}

} // namespace autopar
