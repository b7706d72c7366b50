//===- PlanText.cpp - The table that a person reads -----------------------===//

#include "autopar/Report/PlanText.h"
#include "ExplainText.h"
#include "SplitNames.h"
#include "autopar/Planning/Plan/MeshText.h"
#include "autopar/Planning/Plan/Plan.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace autopar {

std::string stepText(const Plan &plan) {
  return secondsText(plan.predictedStepSeconds) +
         (plan.pipeline().stepsOverlap() ? " from one to the next" : "") +
         " predicted";
}

/// Lists how many parameters and activations have each sharding, most common
/// first.
static std::string shardingsText(const Plan &plan, const ModelGraph &graph) {
  std::map<std::string, int64_t> parameters, activations;
  for (const auto &[planned, value] : zip_equal(plan.values, graph.values)) {
    bool weight = value.isWeight || value.setup;
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

namespace {

/// The number of ops that an axis splits with one outcome. `empty` and `blocks`
/// describe the split factor with the largest share of empty blocks.
struct SplitOps {
  int64_t ops = 0, empty = 0, blocks = 1;

  void add(int64_t size, int64_t parts) {
    ++ops;
    int64_t block = std::max<int64_t>(1, ceilDiv(size, parts));
    int64_t used = ceilDiv(size, block);
    if ((parts - used) * blocks > empty * parts) {
      empty = parts - used;
      blocks = parts;
    }
  }
  std::string text(StringRef what) const {
    std::string result = formatv("{0} in {1} ops", what, ops);
    if (empty)
      result += formatv(" ({0} of {1} groups idle)", empty, blocks);
    return result;
  }
};

} // namespace

/// Lists how many ops an axis splits, by outcome, such as `the batch in 9 ops,
/// ...`, and whether it leaves devices without work.
static std::string axisText(const Plan &plan, const ModelGraph &graph,
                            const SplitNames &names, unsigned axis) {
  MapVector<SplitName, SplitOps> outcomes; // in the order of the program
  for (const auto &[index, op] : enumerate(plan.ops))
    for (const auto &[subAxis, choice] :
         zip(plan.mesh.subAxes(), op.assignment))
      if (subAxis.axis == axis && choice.kind == Choice::Split) {
        // The size and the parts are those of one micro-batch.
        int64_t times = 1, parts = 1;
        for (unsigned other : subAxesOf(op.assignment, choice.index)) {
          const SubAxis &part = plan.mesh.subAxes()[other];
          bool time = plan.mesh.axes()[part.axis].name == kTimeAxis;
          (time ? times : parts) *= part.size;
        }
        outcomes[names.of(index, axis, choice)].add(
            ceilDiv(graph.ops[index].facts->rule.factors[choice.index].size,
                    times),
            parts);
        break; // an op counts once
      }
  if (outcomes.empty())
    return "nothing: all devices compute the same";
  auto list = outcomes.takeVector();
  llvm::stable_sort(list, [](const auto &a, const auto &b) {
    return a.second.ops > b.second.ops;
  });
  return join(map_range(list,
                        [](const auto &item) {
                          return item.second.text(
                              stringifySplitName(item.first));
                        }),
              ", ");
}

/// Returns one line for each axis of more than one device.
static std::string outcomesText(const Plan &plan, const ModelGraph &graph) {
  SplitNames names(graph, plan.mesh);
  std::string text;
  for (const auto &[index, axis] : enumerate(plan.mesh.axes()))
    if (axis.size > 1 && axis.name != kTimeAxis)
      text += formatv("{0,-12} splits {1}\n", axis.name,
                      axisText(plan, graph, names, index));
  return text;
}

/// Returns a line that counts the copies that are made again, if there are any.
static std::string regathersText(const Plan &plan) {
  size_t count = 0;
  for (const PlannedOp &op : plan.ops)
    count += op.regathers.size();
  if (count == 0)
    return "";
  return formatv("regathers    {0} copies are made again for another task "
                 "instead of being held\n",
                 count);
}

std::string describe(const Plan &plan, const ModelGraph &graph) {
  std::string text;
  text += "cluster      " + describe(plan.cluster) + "\n";
  if (std::optional<int64_t> all = plan.request.getInteger(kAllDevices))
    text +=
        formatv("devices      {0} of {1}: the others would not make the step "
                "faster\n",
                plan.cluster.deviceCount(), *all);
  text += "mesh         " + meshText(plan.mesh) + "\n";
  text += outcomesText(plan, graph);
  if (plan.stages > 1)
    text += formatv("pipeline     {0} stages, {1} micro-batches, {2}\n",
                    plan.stages, plan.microBatches, plan.schedule());
  text +=
      "step         " + stepText(plan) +
      (plan.gap > 5e-4
           ? formatv(", at most {0:f1}% above the best\n", plan.gap * 100).str()
           : ", best of this search\n");
  if (plan.stages > 1 || !plan.collectives.empty())
    text += stagesText(stageCosts(plan, graph), plan);
  text += "memory       " + bytesText(plan.predictedPeakMemoryBytes) +
          " per device" + (plan.stages > 1 ? " of the fullest stage" : "") +
          " predicted\n";
  text += regathersText(plan);
  text += "shardings\n" + shardingsText(plan, graph);
  text += plan.collectives.empty() ? "no communication\n"
          : plan.stages > 1        ? "communication of all stages\n"
                                   : "communication\n";
  for (const PlannedCollective &c : plan.collectives)
    text += formatv("  {0,-14} {1,-16} {2,5} x {3,-10} {4}\n", c.kind,
                    join(plan.mesh.spell(c.subAxes), "+"), c.count,
                    bytesText(c.bytes), secondsText(c.seconds));
  return text;
}

} // namespace autopar
