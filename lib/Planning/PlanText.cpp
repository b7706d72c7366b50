//===- PlanText.cpp - The table that a person reads -----------------------===//

#include "autopar/Planning/Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace autopar {

static std::string bytesText(double bytes) {
  static constexpr StringLiteral units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return formatv("{0:f1} {1}", bytes, units[unit]);
}

static std::string secondsText(double seconds) {
  if (seconds < 1e-3)
    return formatv("{0:f1} us", seconds * 1e6);
  if (seconds < 1)
    return formatv("{0:f2} ms", seconds * 1e3);
  return formatv("{0:f2} s", seconds);
}

static std::string meshText(const Mesh &mesh) {
  return join(map_range(mesh.axes(),
                        [](const MeshAxis &axis) {
                          return axis.name + "=" + std::to_string(axis.size);
                        }),
              ", ");
}

/// How many parameters and activations each sharding has, most common first.
static std::string shardingsText(const Plan &plan, const ModelGraph &graph) {
  std::map<std::string, int64_t> parameters, activations;
  for (const auto &[planned, value] : zip_equal(plan.values, graph.values)) {
    bool weight = value.source == ValueSource::Parameter || value.setup;
    ++(weight ? parameters
              : activations)[toString(planned.sharding, plan.mesh)];
  }
  std::string text;
  auto append = [&](StringRef title,
                    const std::map<std::string, int64_t> &counts) {
    std::vector<std::pair<int64_t, std::string>> rows;
    for (const auto &[sharding, count] : counts)
      rows.push_back({-count, sharding});
    llvm::sort(rows);
    for (const auto &[count, sharding] : ArrayRef(rows).take_front(8))
      text += formatv("  {0,-12} {1,5} x {2}\n", title, -count, sharding);
    if (rows.size() > 8)
      text += formatv("  {0,-12} and {1} other shardings\n", title,
                      rows.size() - 8);
  };
  append("weights", parameters);
  append("activations", activations);
  return text;
}

std::string describe(const Plan &plan, const ModelGraph &graph) {
  std::string text;
  text += "cluster      " + describe(plan.cluster) + "\n";
  text += "mesh         " + meshText(plan.mesh) + "\n";
  if (plan.stages > 1)
    text += formatv("pipeline     {0} stages, {1} micro-batches, {2}\n",
                    plan.stages, plan.microBatches, plan.schedule);
  text +=
      "step         " + secondsText(plan.predictedStepSeconds) + " predicted" +
      (plan.gap > 0
           ? formatv(", at most {0:f1}% above the best\n", plan.gap * 100).str()
           : ", best of this search\n");
  text += "memory       " + bytesText(plan.predictedPeakMemoryBytes) +
          " per device predicted\n";
  text += "shardings\n" + shardingsText(plan, graph);
  text += plan.collectives.empty() ? "no communication\n" : "collectives\n";
  for (const PlannedCollective &c : plan.collectives)
    text += formatv("  {0,-14} {1,-16} {2,5} x {3,-10} {4}\n", c.kind,
                    join(plan.mesh.spell(c.atoms), "+"), c.count,
                    bytesText(c.bytes), secondsText(c.seconds));
  return text;
}

} // namespace autopar
