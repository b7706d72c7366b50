//===- SharedWork.cpp - What problems of a graph have in common -----------===//

#include "autopar/Planning/Search/SharedWork.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

const FoldedGraph &SharedWork::folded(const ModelGraph &graph,
                                      const std::vector<unsigned> &marks) {
  return foldedByMarks.get(marks, [&] { return FoldedGraph(graph, marks); });
}

Expected<const OpDemands &>
SharedWork::demands(const ModelGraph &graph, const std::string &names,
                    function_ref<Expected<std::vector<OpDemand>>()> compute) {
  const Demanded &known = demandsByNames.get(names, [&]() -> Demanded {
    Expected<std::vector<OpDemand>> demands = compute();
    if (!demands)
      return {std::nullopt, toString(demands.takeError())};
    return {OpDemands(graph, std::move(*demands)), ""};
  });
  if (!known.demands)
    return createStringError(known.complaint);
  return *known.demands;
}

/// Returns a key for a place. It has the shares of cores, which a part of a
/// node gets from the whole node.
static std::string keyOf(const Cluster &place) {
  std::string key = formatv("{0}", toJSON(place));
  for (const NodeGroup &group : place.nodes)
    key += formatv(" {0}", group.share());
  return key;
}

std::shared_ptr<ReshardPrices> SharedWork::prices(const Cluster &whole,
                                                  ArrayRef<Cluster> places,
                                                  const Mesh &mesh) {
  std::string key = keyOf(whole);
  for (const Cluster &place : places)
    key += keyOf(place);
  for (const SubAxis &subAxis : mesh.subAxes())
    key += (subAxis.time ? " time " : " ") + std::to_string(subAxis.size);
  return pricesOfPlaces.get(key,
                            [] { return std::make_shared<ReshardPrices>(); });
}

} // namespace autopar
