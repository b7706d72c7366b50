//===- StagePlaces.cpp - Where stages lie, and prices there ---------------===//

#include "StagePlaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static bool isAlike(const Cluster &a, const Cluster &b) {
  return llvm::equal(a.nodes, b.nodes,
                     [](const NodeGroup &x, const NodeGroup &y) {
                       return x.count == y.count && x.devices == y.devices &&
                              x.share == y.share && x.type.name == y.type.name;
                     });
}

StagePlaces::StagePlaces(const Cluster &cluster, int64_t stages)
    : kindOf(stages, 0) {
  int64_t devices = cluster.deviceCount() / stages;
  kinds.push_back(cluster.part(0, devices));
  if (stages == 1)
    return;
  const NodeGroup &first = cluster.nodes.front();
  if (cluster.nodes.size() == 1 &&
      (first.devices % devices == 0 || devices % first.devices == 0))
    return; // all are alike
  for (int64_t stage = 1; stage < stages; ++stage) {
    Cluster place = cluster.part(stage * devices, devices);
    auto kind = llvm::find_if(
        kinds, [&](const Cluster &other) { return isAlike(place, other); });
    kindOf[stage] = kind - kinds.begin();
    if (kind == kinds.end())
      kinds.push_back(std::move(place));
  }
}

int64_t excessBytes(const Plan &plan, int64_t asked) {
  StagePlaces places(plan.cluster, plan.stages);
  int64_t excess = std::numeric_limits<int64_t>::min();
  for (int64_t stage = 0; stage < plan.stages; ++stage)
    if (int64_t limit = places.memoryLimit(stage, asked))
      excess = std::max(excess, plan.predictedStageMemoryBytes[stage] - limit);
  return excess;
}

std::vector<PlacePrices> pricesOf(const StagePlaces &places, const Mesh &mesh,
                                  SharedWork &shared) {
  std::vector<PlacePrices> prices;
  for (const Cluster &place : places.kinds)
    prices.emplace_back(place, mesh, shared);
  return prices;
}

} // namespace autopar
