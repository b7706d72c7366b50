//===- StagePlaces.cpp - Where stages lie, and prices there ---------------===//

#include "StagePlaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static bool isAlike(const Cluster &a, const Cluster &b) {
  if (a.devicesBefore != b.devicesBefore || a.nodesBefore != b.nodesBefore)
    return false; // in another place of a group
  return llvm::equal(
      a.nodes, b.nodes, [](const NodeGroup &x, const NodeGroup &y) {
        return x.count == y.count && x.devices == y.devices &&
               x.share() == y.share() && x.type.name == y.type.name;
      });
}

StagePlaces::StagePlaces(const Cluster &cluster, const Pipeline &pipeline)
    : whole(cluster), kindOf(pipeline.stages, 0) {
  int64_t stages = pipeline.stages, atOnce = pipeline.stagesAtOnce();
  int64_t devices = cluster.deviceCount() / stages;
  kinds.push_back(cluster.part(0, devices, atOnce));
  if (stages == 1)
    return;
  const NodeGroup &first = cluster.nodes.front();
  bool hasGroups = !cluster.deviceGroups.empty() || !cluster.nodeGroups.empty();
  if (cluster.nodes.size() == 1 && !hasGroups &&
      (first.devices % devices == 0 || devices % first.devices == 0))
    return; // all are alike
  for (int64_t stage = 1; stage < stages; ++stage) {
    Cluster place = cluster.part(stage * devices, devices, atOnce);
    auto kind = llvm::find_if(
        kinds, [&](const Cluster &other) { return isAlike(place, other); });
    kindOf[stage] = kind - kinds.begin();
    if (kind == kinds.end())
      kinds.push_back(std::move(place));
  }
}

int64_t StagePlaces::memoryLimits(int64_t asked) const {
  int64_t sum = 0;
  for (size_t stage = 0; stage < kindOf.size(); ++stage) {
    int64_t limit = memoryLimit(stage, asked);
    if (limit == 0)
      return 0;
    sum += limit;
  }
  return sum;
}

int64_t excessBytes(const Plan &plan, const StagePlaces &places,
                    int64_t asked) {
  int64_t excess = std::numeric_limits<int64_t>::min();
  for (int64_t stage = 0; stage < plan.stages; ++stage)
    if (int64_t limit = places.memoryLimit(stage, asked))
      excess = std::max(excess, plan.predictedStageMemoryBytes[stage] - limit);
  return excess;
}

/// Null where all stages are where the whole mesh is.
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
