//===- PlanFacts.cpp - What a plan's parts do and cost, as data -----------===//

#include "autopar/Report/PlanFacts.h"
#include "CountedRows.h"
#include "ExplainText.h"
#include "SplitNames.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

std::vector<CostPart> classParts(PlanCost &cost, const ModelGraph &graph) {
  std::map<std::string, double> sums;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      sums[stringifyKernelClass(op.facts->kernel).str()] +=
          cost.opSeconds(index, cost.strategyOf(index)) *
          double(cost.stagesThatRun(index).size());
  std::vector<CostPart> parts;
  for (const auto &[name, seconds] : sums)
    if (seconds > 0)
      parts.push_back({name, seconds});
  llvm::stable_sort(parts, [](const CostPart &a, const CostPart &b) {
    return a.seconds > b.seconds;
  });
  return parts;
}

static std::vector<CostRow> dearestOps(PlanCost &cost, const Plan &plan,
                                       const ModelGraph &graph,
                                       const SplitNames &names) {
  CountedRows rows;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    double seconds = cost.opSeconds(index, cost.strategyOf(index));
    std::string strategy =
        names.strategyText(index, plan.ops[index].assignment);
    for (size_t i = 0; i < cost.stagesThatRun(index).size(); ++i)
      if (!op.setup && seconds > 0)
        rows.add(op.facts->signature + strategy + std::to_string(seconds),
                 op.name + " (" + strategy + ")", seconds, index);
  }
  return rows.take();
}

/// Returns a key that is equal for reshards with the same steps and shardings
/// whose ops are alike.
static std::string keyOf(const ReshardPlace &place, const ModelGraph &graph,
                         const Mesh &mesh) {
  const GraphValue &value = graph.values[place.value];
  std::string key = toString(place.from, mesh) + toString(place.to, mesh) +
                    (place.result ? "r" : "o") + std::to_string(place.seconds);
  for (int64_t size : value.shape)
    key += "," + std::to_string(size);
  if (value.source == ValueSource::Op)
    key += graph.ops[value.producer].facts->signature;
  if (place.op)
    key += graph.ops[*place.op].facts->signature;
  return key;
}

static std::vector<CostRow> originsOf(const PlanCost &cost, const Plan &plan,
                                      const ModelGraph &graph) {
  CountedRows rows;
  for (const ReshardPlace &place : cost.reshards)
    rows.add(keyOf(place, graph, plan.mesh),
             reshardText(place, graph, plan.mesh), place.seconds, place.value);
  return rows.take();
}

/// Returns the outcome of each axis in an op. If the sub-axes of an axis have
/// different choices, the first that splits counts.
static std::vector<std::string> outcomesOf(const Plan &plan, unsigned op,
                                           const SplitNames &names) {
  std::vector<std::string> outcomes;
  for (const auto &[index, axis] : enumerate(plan.mesh.axes())) {
    if (axis.name == kTimeAxis || axis.size == 1)
      continue;
    std::string &outcome = outcomes.emplace_back();
    for (const auto &[subAxis, choice] :
         zip_equal(plan.mesh.subAxes(), plan.ops[op].assignment)) {
      if (subAxis.axis != index || choice.kind == Choice::None)
        continue;
      if (choice.kind == Choice::Split) {
        outcome = stringifySplitName(names.of(op, index, choice));
        break;
      }
      outcome = "partial sums";
    }
  }
  return outcomes;
}

static std::vector<ExplainedOp> opFacts(PlanCost &cost, const Plan &plan,
                                        const ModelGraph &graph,
                                        const SplitNames &names) {
  std::vector<ExplainedOp> list;
  std::vector<unsigned> placeOf(graph.ops.size(), graph.ops.size());
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    placeOf[index] = list.size();
    ExplainedOp &facts = list.emplace_back();
    facts.op = index;
    facts.stages = SmallVector<int64_t, 1>(cost.stagesThatRun(index));
    facts.strategy = names.strategyText(index, plan.ops[index].assignment);
    facts.outcomes = outcomesOf(plan, index, names);
    facts.compute = cost.opSeconds(index, cost.strategyOf(index));
  }
  for (const ReshardPlace &place : cost.reshards) {
    const GraphValue &value = graph.values[place.value];
    if (!place.op && value.source != ValueSource::Op)
      continue; // an argument that is returned
    unsigned at = placeOf[place.op ? *place.op : value.producer];
    if (at == graph.ops.size() ||
        (list[at].stages.size() > 1 &&
         !is_contained(place.stages, list[at].stages.front())))
      continue; // as what it computes, of the first stage
    list[at].communication += place.seconds;
    list[at].reshards.push_back(reshardText(place, graph, plan.mesh));
  }
  return list;
}

static std::vector<StageTraffic> trafficOf(const PlanCost &cost,
                                           const Plan &plan) {
  std::map<std::pair<int64_t, int64_t>, StageTraffic> sums;
  int64_t times = plan.mesh.timeCount();
  for (const StageMessage &message : cost.messages) {
    StageTraffic &sum = sums[{message.from, message.to}];
    sum.from = message.from;
    sum.to = message.to;
    sum.messages += times;
    sum.bytes += times * message.bytes;
    sum.seconds += double(times) * message.seconds;
  }
  std::vector<StageTraffic> list;
  for (auto &[stages, sum] : sums)
    list.push_back(sum);
  return list;
}

static MutableArrayRef<CostRow> shown(std::vector<CostRow> &rows) {
  return MutableArrayRef(rows).take_front(kShownRows);
}

PlanFacts factsOf(const Plan &plan, const ModelGraph &graph) {
  PlanCost cost(plan, graph);
  SplitNames names(graph, plan.mesh);
  PlanFacts facts;
  facts.parts = classParts(cost, graph);
  facts.parts.push_back({"communication", cost.communication});
  facts.setupSeconds = cost.setup;
  facts.stages = cost.stages;
  for (const MeshAxis &axis : plan.mesh.axes())
    if (axis.name != kTimeAxis && axis.size > 1)
      facts.axes.push_back(axis.name);
  facts.ops = opFacts(cost, plan, graph, names);
  facts.dearest = dearestOps(cost, plan, graph, names);
  facts.origins = originsOf(cost, plan, graph);
  for (CostRow &row : shown(facts.dearest))
    row.otherWays = otherWaysOfOp(cost, plan, graph, names, row.index);
  for (CostRow &row : shown(facts.origins))
    row.otherWays = otherWaysOfValue(cost, plan, graph, row.index);
  facts.traffic = trafficOf(cost, plan);
  facts.changes = changedClusters(plan, graph);
  return facts;
}

} // namespace autopar
