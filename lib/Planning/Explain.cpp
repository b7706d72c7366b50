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
          cost.opSeconds(index, cost.strategyOf(index)) *
          cost.stageCount(index);
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
                    "above are of all stages together; of a device\n{2}",
                    plan.stages, plan.microBatches, stagesText(cost, plan));
  return text;
}

namespace {

/// Rows that are alike in all but names, as repeated layers have them, are one.
class CountedRows {
public:
  void add(std::string key, std::string text, double seconds) {
    auto [it, isNew] = places.try_emplace(std::move(key), rows.size());
    if (isNew)
      rows.push_back({std::move(text), seconds, 0});
    ++rows[it->second].count;
  }
  /// Those that cost the most together come first.
  std::string text() {
    auto all = [](const Row &row) { return row.seconds * row.count; };
    llvm::stable_sort(
        rows, [&](const Row &a, const Row &b) { return all(a) > all(b); });
    std::string result;
    for (const Row &row : ArrayRef(rows).take_front(kShownRows))
      result +=
          formatv("  {0,12} {1,5} x {2,10}  {3}{4}\n", secondsText(all(row)),
                  row.count, secondsText(row.seconds), row.text,
                  row.count > 1 ? ", and others like it" : "");
    if (rows.size() > kShownRows)
      result += formatv("  and {0} others\n", rows.size() - kShownRows);
    return result;
  }

private:
  struct Row {
    std::string text;
    double seconds; // of one
    int64_t count;
  };
  std::map<std::string, size_t> places;
  std::vector<Row> rows;
};

} // namespace

static std::string dearestOps(PlanCost &cost, const Plan &plan,
                              const ModelGraph &graph) {
  CountedRows rows;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    double seconds = cost.opSeconds(index, cost.strategyOf(index));
    std::string strategy = strategyText(plan.ops[index].assignment, plan.mesh);
    for (size_t i = 0; i < cost.stageCount(index); ++i)
      if (!op.setup && seconds > 0)
        rows.add(op.signature + strategy + std::to_string(seconds),
                 op.name + " (" + strategy + ")", seconds);
  }
  return "dearest ops\n" + rows.text();
}

/// What makes two reshards alike: steps, shardings, and the ops at them.
static std::string keyOf(const ReshardPlace &place, const ModelGraph &graph,
                         const Mesh &mesh) {
  const GraphValue &value = graph.values[place.value];
  std::string key = toString(place.from, mesh) + toString(place.to, mesh) +
                    (place.result ? "r" : "o");
  for (int64_t size : value.shape)
    key += "," + std::to_string(size);
  if (value.source == ValueSource::Op)
    key += graph.ops[value.producer].signature;
  if (place.op)
    key += graph.ops[*place.op].signature;
  return key;
}

static std::string origins(const PlanCost &cost, const Plan &plan,
                           const ModelGraph &graph) {
  CountedRows rows;
  for (const ReshardPlace &place : cost.reshards)
    rows.add(keyOf(place, graph, plan.mesh),
             reshardText(place, graph, plan.mesh), place.seconds);
  return cost.reshards.empty() ? "no collective\n"
                               : "where collectives come from\n" + rows.text();
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
