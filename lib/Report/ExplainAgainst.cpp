//===- ExplainAgainst.cpp - Two plans of one model side by side -----------===//

#include "CountedRows.h"
#include "ExplainText.h"
#include "SplitNames.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/MeshText.h"
#include "autopar/Report/PlanText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace autopar {

namespace {

/// One of the two plans, with its costs and the names of its splits.
struct Side {
  Side(const Plan &plan, const ModelGraph &graph)
      : plan(plan), cost(plan, graph), names(graph, plan.mesh) {}

  const Plan &plan;
  PlanCost cost;
  SplitNames names;

  /// Returns the seconds of the op in all stages that run it, including the
  /// reshards at it.
  double opSeconds(unsigned op) {
    const OpStrategy &strategy = cost.strategyOf(op);
    return double(cost.stagesThatRun(op).size()) *
           (cost.opSeconds(op, strategy) + cost.reshardSeconds(op));
  }
  std::string strategyText(unsigned op) const {
    std::string text = names.strategyText(op, plan.ops[op].assignment);
    if (plan.stages > 1)
      text += ", stage " + std::to_string(plan.ops[op].stage);
    return text;
  }
  int64_t bytes(unsigned value, const ModelGraph &graph) const {
    return localBytes(graph.values[value], plan.values[value].sharding,
                      plan.mesh);
  }
};

/// A table with one column for each plan.
class Columns {
public:
  void add(StringRef name, const Twine &a, const Twine &b) {
    text += formatv("{0,-22} {1,26} {2,26}\n", name, a.str(), b.str());
  }
  void addSeconds(StringRef name, double a, double b) {
    text += formatv("{0,-22} {1,26} {2,26} {3,12}\n", name, secondsText(a),
                    secondsText(b), signedSeconds(b - a));
  }
  std::string text;
};

} // namespace

static std::string wholeMeshText(const Plan &plan) {
  std::string stages =
      plan.stages > 1 ? "layer=" + std::to_string(plan.stages) + ", " : "";
  return stages + meshText(plan.mesh);
}

/// Returns the seconds of communication of all stages together, by kind.
static std::map<std::string, double> secondsByKind(const PlanCost &cost) {
  std::map<std::string, double> sums;
  for (const ReshardPlace &place : cost.reshards) {
    double whole = secondsOf(place.path);
    for (const ReshardStep &step : place.path)
      if (whole > 0)
        sums[stringifyReshardKind(step.kind).str()] +=
            double(place.stages.size()) * place.seconds * step.seconds / whole;
  }
  return sums;
}

/// Adds a row for each part that occurs in either plan, with the seconds that
/// it takes in both.
template <typename Sums>
static void addParts(Columns &columns, const Sums &first, const Sums &second,
                     StringRef indent) {
  std::map<std::string, std::pair<double, double>> both;
  for (const auto &[name, seconds] : first)
    both[name].first = seconds;
  for (const auto &[name, seconds] : second)
    both[name].second = seconds;
  for (const auto &[name, pair] : both)
    columns.addSeconds((indent + name).str(), pair.first, pair.second);
}

static double messageSeconds(const PlanCost &cost) {
  double sum = 0;
  for (const StageCost &stage : cost.stages)
    sum += stage.messages;
  return sum;
}

static std::string partsText(Side &first, Side &second,
                             const ModelGraph &graph) {
  Columns columns;
  columns.add("", "this plan", "the other");
  columns.add("strategy", first.plan.strategy, second.plan.strategy);
  columns.add("mesh", wholeMeshText(first.plan), wholeMeshText(second.plan));
  if (first.plan.objective != second.plan.objective)
    columns.add("objective", stringifyObjective(first.plan.objective).str(),
                stringifyObjective(second.plan.objective).str());
  columns.addSeconds("step", first.plan.predictedStepSeconds,
                     second.plan.predictedStepSeconds);
  auto classes = [&](Side &side) {
    std::map<std::string, double> sums;
    for (const CostPart &part : classParts(side.cost, graph))
      sums[part.name] = part.seconds;
    return sums;
  };
  addParts(columns, classes(first), classes(second), "  ");
  columns.addSeconds("  communication", first.cost.communication,
                     second.cost.communication);
  addParts(columns, secondsByKind(first.cost), secondsByKind(second.cost),
           "    ");
  if (first.plan.stages > 1 || second.plan.stages > 1)
    columns.addSeconds("  messages", messageSeconds(first.cost),
                       messageSeconds(second.cost));
  columns.addSeconds("at load", first.cost.setup, second.cost.setup);
  columns.add("memory", bytesText(double(first.plan.predictedPeakMemoryBytes)),
              bytesText(double(second.plan.predictedPeakMemoryBytes)));
  return columns.text;
}

/// Returns whether both meshes have axes of the same sizes, so that shardings
/// can be compared regardless of the names of the axes.
static bool sameAxes(const Mesh &a, const Mesh &b) {
  return llvm::equal(a.axes(), b.axes(), [](const auto &x, const auto &y) {
    return x.size == y.size && (x.name == kTimeAxis) == (y.name == kTimeAxis);
  });
}

static StringRef alikeText(const CostRow &row) {
  return row.count > 1 ? ", and others like it" : "";
}

/// Lists the ops whose strategies or times differ. Ops of repeated layers that
/// differ in the same way share a row.
static std::string opsText(Side &first, Side &second, const ModelGraph &graph) {
  CountedRows rows;
  bool comparable = sameAxes(first.plan.mesh, second.plan.mesh);
  size_t all = 0, count = 0;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    ++all;
    double more = second.opSeconds(index) - first.opSeconds(index);
    std::string here = first.strategyText(index),
                there = second.strategyText(index);
    const PlannedOp &a = first.plan.ops[index], &b = second.plan.ops[index];
    if (more == 0 && comparable && a.assignment == b.assignment &&
        a.stage == b.stage)
      continue;
    ++count;
    std::string ways = here + " | " + there;
    rows.add(op.facts->signature + ways + std::to_string(more * 1e9),
             op.name + ": " + ways, more, index);
  }
  std::string text = formatv(
      "ops that differ: {0} of {1}; what they take more in the other plan, "
      "reshards at them included\n",
      count, all);
  std::vector<CostRow> list = rows.take();
  for (const CostRow &row : ArrayRef(list).take_front(kShownRows))
    text += formatv("  {0,12} {1,5} x {2,12}  {3}{4}\n",
                    signedSeconds(row.allSeconds()), row.count,
                    signedSeconds(row.seconds), row.text, alikeText(row));
  if (list.size() > kShownRows)
    text += formatv("  and {0} others\n", list.size() - kShownRows);
  return text;
}

/// Returns a key that is equal for tensors of the same shape whose producers
/// are alike. For tensors that no op produces, the first readers must be alike.
static std::string likenessOf(const GraphValue &value,
                              const ModelGraph &graph) {
  std::string key;
  for (int64_t size : value.shape)
    key += std::to_string(size) + ",";
  if (value.source == ValueSource::Op)
    return key + graph.ops[value.producer].facts->signature;
  return value.uses.empty()
             ? key
             : key + graph.ops[value.uses.front().op].facts->signature;
}

/// Lists the tensors whose shardings differ. The rows are sorted by the bytes
/// that a device holds of them in the plan where these are more.
static std::string tensorsText(const Side &first, const Side &second,
                               const ModelGraph &graph) {
  CountedRows rows;
  bool comparable = sameAxes(first.plan.mesh, second.plan.mesh);
  size_t count = 0;
  for (const auto &[index, value] : enumerate(graph.values)) {
    const Sharding &a = first.plan.values[index].sharding,
                   &b = second.plan.values[index].sharding;
    if (comparable ? a == b : a.isReplicated() && b.isReplicated())
      continue;
    std::string here = toString(a, first.plan.mesh),
                there = toString(b, second.plan.mesh);
    ++count;
    int64_t before = first.bytes(index, graph),
            after = second.bytes(index, graph);
    std::string ways = here + " | " + there;
    rows.add(likenessOf(value, graph) + ways,
             formatv("{0} | {1}  {2}: {3}", bytesText(double(before)),
                     bytesText(double(after)), value.name, ways),
             double(std::max(before, after)), index);
  }
  std::string text =
      formatv("tensors that are sharded in another way: {0} of {1}; each on a "
              "device\n",
              count, graph.values.size());
  std::vector<CostRow> list = rows.take();
  for (const CostRow &row : ArrayRef(list).take_front(kShownRows))
    text += formatv("  {0,5} x {1}{2}\n", row.count, row.text, alikeText(row));
  if (list.size() > kShownRows)
    text += formatv("  and {0} others\n", list.size() - kShownRows);
  return text;
}

std::string explainAgainst(const Plan &plan, const Plan &other,
                           const ModelGraph &graph) {
  Side first(plan, graph), second(other, graph);
  return partsText(first, second, graph) + opsText(first, second, graph) +
         tensorsText(first, second, graph);
}

} // namespace autopar
