//===- SplitNames.cpp - What axes split in ops --------------------------===//

#include "SplitNames.h"
#include "ExplainText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <functional>

using namespace llvm;

namespace autopar {

/// The strategies that have a name for their outcome. The first that fits is
/// used.
static constexpr std::pair<StrategyName, SplitName> kOutcomes[] = {
    {StrategyName::Data, SplitName::Batch},
    {StrategyName::Column, SplitName::Columns},
    {StrategyName::Row, SplitName::Rows},
    {StrategyName::Channel, SplitName::Channels},
    {StrategyName::Spatial, SplitName::Spatial}};

SplitNames::SplitNames(const ModelGraph &graph, const Mesh &mesh)
    : mesh(mesh), demands(mesh.axes().size()) {
  std::vector<std::function<void()>> tasks{
      [&] { dimensions = nameDimensions(graph); }};
  for (const auto &[axis, demanded] : zip_equal(mesh.axes(), demands)) {
    if (axis.size == 1)
      continue;
    demanded.resize(std::size(kOutcomes));
    for (const auto &[outcome, list] : zip_equal(kOutcomes, demanded))
      tasks.push_back([&graph, name = outcome.first, parts = axis.size,
                       &list = list] { list = demandsOf(graph, name, parts); });
  }
  parallelFor(0, tasks.size(), [&](size_t i) { tasks[i](); });
}

SplitName SplitNames::of(unsigned op, unsigned axis,
                         const Choice &choice) const {
  for (const auto &[demand, named] : zip(demands[axis], kOutcomes))
    if (is_contained(demand[op], choice))
      return named.second;
  for (const NamedDimension &dimension : dimensions)
    if (dimension.marks.factors[op] == choice.index)
      return dimension.outcome;
  return SplitName::Other;
}

std::string SplitNames::strategyText(unsigned op,
                                     const Assignment &assignment) const {
  return autopar::strategyText(
      assignment, mesh, [&](unsigned axis, const Choice &choice) {
        const MeshAxis &meshAxis = mesh.axes()[axis];
        if (choice.kind != Choice::Split || meshAxis.size == 1 ||
            meshAxis.name == kTimeAxis)
          return std::string();
        return (" (" + stringifySplitName(of(op, axis, choice)) + ")").str();
      });
}

std::optional<unsigned> SplitNames::factorOf(unsigned op,
                                             SplitName outcome) const {
  for (const NamedDimension &dimension : dimensions)
    if (dimension.outcome == outcome)
      return dimension.marks.factors[op];
  return std::nullopt;
}

} // namespace autopar
