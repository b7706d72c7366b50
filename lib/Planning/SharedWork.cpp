//===- SharedWork.cpp - What problems of a graph have in common -----------===//

#include "SharedWork.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

std::shared_ptr<const GraphClasses>
SharedWork::classes(const std::vector<unsigned> &marks,
                    function_ref<GraphClasses()> compute) {
  std::shared_ptr<Classes> entry;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Classes> &known = classesOfMarks[marks];
    if (!known)
      known = std::make_shared<Classes>();
    entry = known;
  }
  std::call_once(entry->once, [&] {
    entry->classes = std::make_shared<const GraphClasses>(compute());
  });
  return entry->classes;
}

/// A part of a node has its share from the whole.
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
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<ReshardPrices> &known = pricesOfPlaces[key];
  if (!known)
    known = std::make_shared<ReshardPrices>();
  return known;
}

} // namespace autopar
