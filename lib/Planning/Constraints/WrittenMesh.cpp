//===- WrittenMesh.cpp - Meshes as users write them -----------------------===//

#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

SmallVector<MeshAxis> deviceAxes(const Mesh &mesh) {
  SmallVector<MeshAxis> axes;
  copy_if(mesh.axes(), std::back_inserter(axes),
          [](const MeshAxis &axis) { return axis.name != kTimeAxis; });
  return axes;
}

Expected<SmallVector<MeshAxis>> parseMesh(StringRef text) {
  SmallVector<MeshAxis> axes;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, size] = part.split('=');
    MeshAxis axis{name.trim().str(), 0};
    if (axis.name.empty() || size.trim().getAsInteger(10, axis.size) ||
        axis.size < 1 || axis.size > (1 << 20))
      return createStringError("mesh '" + text +
                               "' is not of the form data=2,tensor=2");
    if (axis.name == kTimeAxis)
      return createStringError("the mesh axis 'time' is made by "
                               "--micro-batches, not by --mesh");
    if (axis.name.find_first_of("\". ") != std::string::npos)
      return createStringError("mesh axis '" + axis.name +
                               "' has a quote, dot or blank in its name");
    if (any_of(axes, [&](const MeshAxis &a) { return a.name == axis.name; }))
      return createStringError("mesh '" + text + "' has two axes called '" +
                               axis.name + "'");
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::string stringifyMesh(ArrayRef<MeshAxis> axes) {
  return join(map_range(axes,
                        [](const MeshAxis &axis) {
                          return axis.name + "=" + std::to_string(axis.size);
                        }),
              ",");
}

std::set<std::string> searchedAxes() {
  std::set<std::string> names(std::begin(kFreeAxes), std::end(kFreeAxes));
  for (StrategyName beside : {StrategyName::Data, StrategyName::Replicated})
    names.insert(stringifyStrategy(beside).str());
  return names;
}

bool isSearched(ArrayRef<MeshAxis> axes, ArrayRef<StrategyName> strategies) {
  const std::set<std::string> names = searchedAxes();
  return strategies == ArrayRef(StrategyName::Auto) &&
         all_of(axes, [&](const MeshAxis &axis) {
           return names.count(axis.name) > 0;
         });
}

bool isNamed(ArrayRef<MeshAxis> axes, ArrayRef<StrategyName> strategies) {
  return strategies != ArrayRef(StrategyName::Auto) &&
         axes.size() + is_contained(strategies, StrategyName::Layer) ==
             strategies.size();
}

SmallVector<MeshAxis> writtenMesh(const Plan &plan,
                                  ArrayRef<StrategyName> strategies) {
  SmallVector<MeshAxis> axes = deviceAxes(plan.mesh);
  if (!isNamed(axes, strategies))
    erase_if(axes, [](const MeshAxis &axis) { return axis.size == 1; });
  const StrategyName *layer = llvm::find(strategies, StrategyName::Layer);
  bool named = layer != strategies.end();
  if (plan.stages > 1 || named) {
    size_t index = named ? layer - strategies.begin() : 0;
    axes.insert(axes.begin() + std::min(index, axes.size()),
                {kStageAxis.str(), plan.stages});
  }
  return axes;
}

} // namespace autopar
