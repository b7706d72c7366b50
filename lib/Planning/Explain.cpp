//===- Explain.cpp - What a plan costs, part by part ----------------------===//

#include "autopar/Planning/Explain.h"
#include "ExplainText.h"
#include "Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace autopar {

static std::string shareText(double part, double whole) {
  return whole > 0 ? formatv("{0:f1}%", 100 * part / whole).str() : "";
}

//===----------------------------------------------------------------------===//
// The whole plan
//===----------------------------------------------------------------------===//

/// Seconds of the ops of each kernel class, dearest first.
static std::vector<std::pair<double, std::string>>
secondsByClass(PlanCost &cost, const ModelGraph &graph) {
  std::map<std::string, double> sums;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      sums[stringifyKernelClass(op.kernel).str()] +=
          cost.opSeconds(index, cost.strategyOf(index));
  std::vector<std::pair<double, std::string>> list;
  for (const auto &[name, seconds] : sums)
    if (seconds > 0)
      list.push_back({seconds, name});
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first > b.first; });
  return list;
}

static std::string partsText(PlanCost &cost, const Plan &plan,
                             const ModelGraph &graph) {
  double whole = cost.compute + cost.communication;
  std::string text =
      formatv("step         {0} predicted, at least {1} on this mesh\n",
              secondsText(plan.predictedStepSeconds),
              secondsText(plan.lowerBoundSeconds));
  auto row = [&](StringRef name, double seconds) {
    text += formatv("  {0,-18} {1,12} {2,7}\n", name, secondsText(seconds),
                    shareText(seconds, whole));
  };
  for (const auto &[seconds, name] : secondsByClass(cost, graph))
    row(name, seconds);
  row("communication", cost.communication);
  if (cost.setup > 0)
    text += formatv("at load      {0}, once\n", secondsText(cost.setup));
  if (plan.stages > 1)
    text += formatv("pipeline     {0} stages, {1} micro-batches: the parts "
                    "above are of all devices together\n",
                    plan.stages, plan.microBatches);
  return text;
}

static std::string dearestOps(PlanCost &cost, const Plan &plan,
                              const ModelGraph &graph) {
  std::vector<std::pair<double, unsigned>> list;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      list.push_back({cost.opSeconds(index, cost.strategyOf(index)), index});
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string text = "dearest ops\n";
  for (auto [seconds, index] : ArrayRef(list).take_front(kShownRows))
    if (seconds > 0)
      text += formatv("  {0,12}  {1}  ({2})\n", secondsText(seconds),
                      graph.ops[index].name,
                      strategyText(plan.ops[index].assignment, plan.mesh));
  return text;
}

static std::string origins(const PlanCost &cost, const Plan &plan,
                           const ModelGraph &graph) {
  if (cost.reshards.empty())
    return "no collective\n";
  std::vector<const ReshardPlace *> list;
  for (const ReshardPlace &place : cost.reshards)
    list.push_back(&place);
  llvm::stable_sort(list, [](const ReshardPlace *a, const ReshardPlace *b) {
    return a->seconds > b->seconds;
  });
  std::string text = "where collectives come from\n";
  for (const ReshardPlace *place : ArrayRef(list).take_front(kShownRows))
    text += formatv("  {0,12}  {1}\n", secondsText(place->seconds),
                    reshardText(*place, graph, plan.mesh));
  if (list.size() > kShownRows)
    text += formatv("  and {0} others\n", list.size() - kShownRows);
  return text;
}

std::string explainPlan(const Plan &plan, const ModelGraph &graph) {
  PlanCost cost(plan, graph);
  return partsText(cost, plan, graph) + dearestOps(cost, plan, graph) +
         origins(cost, plan, graph);
}

//===----------------------------------------------------------------------===//
// Two plans
//===----------------------------------------------------------------------===//

static std::string meshText(const Plan &plan) {
  SmallVector<std::string> axes;
  if (plan.stages > 1)
    axes.push_back("layer=" + std::to_string(plan.stages));
  for (const MeshAxis &axis : plan.mesh.axes())
    axes.push_back(axis.name + "=" + std::to_string(axis.size));
  return join(axes, ",");
}

std::string explainAgainst(const Plan &plan, const Plan &other,
                           const ModelGraph &graph) {
  PlanCost first(plan, graph), second(other, graph);
  std::string text;
  auto row = [&](StringRef name, const Twine &a, const Twine &b) {
    text += formatv("{0,-22} {1,16} {2,16}\n", name, a.str(), b.str());
  };
  auto seconds = [&](StringRef name, double a, double b) {
    row(name, secondsText(a), secondsText(b));
  };
  row("", "this plan", "the other");
  row("strategy", plan.strategy, other.strategy);
  row("mesh", meshText(plan), meshText(other));
  seconds("step", plan.predictedStepSeconds, other.predictedStepSeconds);
  std::map<std::string, std::pair<double, double>> classes;
  for (const auto &[s, name] : secondsByClass(first, graph))
    classes[name].first = s;
  for (const auto &[s, name] : secondsByClass(second, graph))
    classes[name].second = s;
  for (const auto &[name, pair] : classes)
    seconds("  " + name, pair.first, pair.second);
  seconds("  communication", first.communication, second.communication);
  row("memory", bytesText(plan.predictedPeakMemoryBytes),
      bytesText(other.predictedPeakMemoryBytes));
  std::vector<std::pair<double, unsigned>> list;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    auto costOf = [&](PlanCost &cost) {
      const OpStrategy &strategy = cost.strategyOf(index);
      return cost.opSeconds(index, strategy) +
             cost.sidesSeconds(index, strategy);
    };
    if (double gain = costOf(second) - costOf(first); !op.setup && gain != 0)
      list.push_back({gain, index});
  }
  llvm::stable_sort(list, [](const auto &a, const auto &b) {
    return std::abs(a.first) > std::abs(b.first);
  });
  text += formatv("ops whose cost differs: {0}; the other plan's against this "
                  "one's\n",
                  list.size());
  for (auto [gain, index] : ArrayRef(list).take_front(kShownRows))
    text += formatv("  {0,12}  {1}: {2} | {3}\n", signedSeconds(gain),
                    graph.ops[index].name,
                    strategyText(plan.ops[index].assignment, plan.mesh),
                    strategyText(other.ops[index].assignment, other.mesh));
  return text;
}

} // namespace autopar
