//===- StagePlaces.cpp - Where stages lie, and prices there ---------------===//

#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Planning/Solver/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

static bool isAlike(const Cluster &a, const Cluster &b) {
  if (a.devicesBefore != b.devicesBefore || a.nodesBefore != b.nodesBefore)
    return false; // they lie differently in a group
  return llvm::equal(
      a.nodes, b.nodes, [](const NodeGroup &x, const NodeGroup &y) {
        return x.count == y.count && x.devices == y.devices &&
               x.share() == y.share() && x.type.name == y.type.name;
      });
}

StagePlaces::StagePlaces(const Cluster &cluster, const Pipeline &pipeline)
    : whole(cluster), pipeline(pipeline), kindOf(pipeline.stages, 0) {
  int64_t stages = pipeline.stages, atOnce = pipeline.stagesAtOnce();
  int64_t devices = cluster.deviceCount() / stages;
  kinds.push_back(cluster.part(0, devices, atOnce));
  if (stages == 1)
    return;
  const NodeGroup &first = cluster.nodes.front();
  bool hasGroups = !cluster.deviceGroups.empty() || !cluster.nodeGroups.empty();
  if (cluster.nodes.size() == 1 && !hasGroups &&
      (first.devices % devices == 0 || devices % first.devices == 0))
    return; // all places are alike
  for (int64_t stage = 1; stage < stages; ++stage) {
    Cluster place = cluster.part(stage * devices, devices, atOnce);
    auto kind = llvm::find_if(
        kinds, [&](const Cluster &other) { return isAlike(place, other); });
    kindOf[stage] = kind - kinds.begin();
    if (kind == kinds.end())
      kinds.push_back(std::move(place));
  }
}

int64_t StagePlaces::memoryLimits(const MemoryLimit &limit) const {
  int64_t sum = 0;
  for (size_t stage = 0; stage < kindOf.size(); ++stage) {
    int64_t bytes = memoryLimit(stage, limit);
    if (bytes == 0)
      return 0;
    sum += bytes;
  }
  return sum;
}

double StagePlaces::shareOf(int64_t stage) const {
  double least = 1;
  for (const NodeGroup &group : of(stage).nodes)
    least = std::min(least, group.share());
  return least;
}

double StagePlaces::devicesPerCore(int64_t stage) const {
  double least = kIllegal;
  for (const NodeGroup &group : of(stage).nodes)
    least = std::min(
        least, group.cores ? double(group.devices) / double(group.cores) : 0);
  return least;
}

int64_t StagePlaces::nodeOf(int64_t stage) const {
  return whole.nodeOf(stage * (whole.deviceCount() / pipeline.stages));
}

namespace {

/// The time in which a micro-batch has not yet reached as many stages of a node
/// as the node has cores, or has already left some of them.
struct Arrivals {
  double idle = 0;                 // seconds, summed over cores
  double devices = 0, arrived = 0; // devices per core; seconds

  /// Moves the micro-batch to the next stage in its order.
  void at(double seconds, double devicesOfStage) {
    idle += std::max(1 - devices, 0.0) * (seconds - arrived);
    devices += devicesOfStage;
    arrived = seconds;
  }
};

} // namespace

double StagePlaces::stepSeconds(ArrayRef<double> stages,
                                ArrayRef<double> messages) const {
  double sum = 0, slowest = 0;
  std::map<int64_t, double> busyCores; // for one micro-batch, by node
  std::map<int64_t, Arrivals> first, last;
  auto pathOf = [&](int64_t stage) {
    return shareOf(stage) * (stages[stage] - messages[stage] / 2);
  };
  for (int64_t stage = 0; stage < pipeline.stages; ++stage) {
    first[nodeOf(stage)].at(sum, devicesPerCore(stage));
    busyCores[nodeOf(stage)] +=
        shareOf(stage) * stages[stage] * devicesPerCore(stage);
    sum += pathOf(stage);
    slowest = std::max(slowest, shareOf(stage) * stages[stage]);
  }
  double after = 0;
  for (int64_t stage = pipeline.stages; stage-- > 0;) {
    last[nodeOf(stage)].at(after, devicesPerCore(stage));
    after += pathOf(stage);
  }
  double seconds = pipeline.stepSeconds(sum, slowest);
  for (auto [node, busy] : busyCores) {
    if (busy == 0)
      continue; // each device has its own core
    double idle =
        pipeline.stepsOverlap() ? 0 : first[node].idle + last[node].idle;
    seconds = std::max(seconds, double(pipeline.microBatches) * busy + idle);
  }
  return seconds;
}

double StagePlaces::leastShare() const {
  double crowded = kIllegal;
  for (int64_t stage = 0; stage < pipeline.stages; ++stage)
    crowded = std::min(crowded, shareOf(stage) * devicesPerCore(stage));
  double nodes = double(whole.nodeOf(whole.deviceCount() - 1) + 1);
  return std::max(leastShareOfCores() * pipeline.leastShare(), crowded / nodes);
}

double StagePlaces::leastShareOfCores() const {
  double least = 1;
  for (int64_t stage = 0; stage < pipeline.stages; ++stage)
    least = std::min(least, shareOf(stage));
  return least;
}

double StagePlaces::leastSeconds(double sum, double slowest) const {
  double count = double(pipeline.microBatches);
  return leastShareOfCores() *
         pipeline.stepSeconds(sum / count, slowest / count);
}

int64_t excessBytes(const Plan &plan, const StagePlaces &places,
                    const MemoryLimit &limit) {
  int64_t excess = std::numeric_limits<int64_t>::min();
  for (int64_t stage = 0; stage < plan.stages; ++stage)
    if (int64_t bytes = places.memoryLimit(stage, limit))
      excess = std::max(excess, plan.predictedStageMemoryBytes[stage] - bytes);
  return excess;
}

/// Returns null if all places are of one kind: path costs are then prices, too.
static ReshardCost priceAt(const StagePlaces &places, unsigned kind,
                           const Mesh &mesh) {
  if (places.kinds.size() == 1)
    return nullptr;
  return CommunicationModel::reshardCost(places.kinds[kind], mesh);
}

PlacePrices::PlacePrices(const StagePlaces &places, unsigned kind,
                         const Mesh &mesh, SharedWork &shared)
    : reshards(mesh, places.pathCost(mesh),
               shared.prices(places.whole, places.kinds[kind], mesh),
               priceAt(places, kind, mesh)),
      device(places.kinds[kind].slowest()), mesh(mesh),
      communication(places.kinds[kind], mesh) {}

std::vector<PlacePrices> pricesOf(const StagePlaces &places, const Mesh &mesh,
                                  SharedWork &shared) {
  std::vector<PlacePrices> prices;
  for (unsigned kind = 0; kind < places.kinds.size(); ++kind)
    prices.emplace_back(places, kind, mesh, shared);
  return prices;
}

} // namespace autopar
