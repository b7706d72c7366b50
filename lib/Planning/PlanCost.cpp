//===- PlanCost.cpp - What each part of a plan costs ----------------------===//

#include "PlanCost.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

void PlanCost::note(ReshardPlace place) {
  if (place.from == place.to)
    return;
  std::optional<ReshardPath> path =
      table.path(place.from, place.to, graph.values[place.value]);
  if (!path)
    return;
  bool atSetup = graph.values[place.value].setup &&
                 (!place.op || graph.ops[*place.op].setup);
  place.path = std::move(*path);
  place.seconds = secondsOf(place.path) * weight(atSetup);
  if (atSetup) {
    setup += place.seconds;
    return;
  }
  communication += place.seconds;
  if (any_of(place.path,
             [](const ReshardStep &step) { return !isLocal(step.kind); }))
    reshards.push_back(std::move(place));
}

PlanCost::PlanCost(const Plan &plan, const ModelGraph &graph)
    : plan(plan), graph(graph), communicationModel(plan.cluster, plan.mesh),
      table(plan.mesh,
            CommunicationModel::reshardCost(plan.cluster, plan.mesh)) {
  auto shardingOf = [&](unsigned value) { return plan.values[value].sharding; };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const Assignment &assignment = plan.ops[index].assignment;
    strategies.push_back(
        {assignment, *shardingsOf(op.rule, assignment, plan.mesh)});
    const OpShardings &sides = strategies.back().shardings;
    (op.setup ? setup : compute) += opSeconds(index, strategies.back());
    for (const auto &[side, value] : zip_equal(sides.operands, op.operands))
      note({value, unsigned(index), false, shardingOf(value), side, {}, 0});
    for (const auto &[side, value] : zip_equal(sides.results, op.results))
      note({value, unsigned(index), true, side, shardingOf(value), {}, 0});
  }
  for (unsigned value : graph.stepResults)
    note({value,
          std::nullopt,
          false,
          shardingOf(value),
          endPartial(shardingOf(value)),
          {},
          0});
}

double PlanCost::opSeconds(unsigned op, const OpStrategy &strategy) {
  return strategySeconds(graph, graph.ops[op], strategy, plan.mesh,
                         plan.cluster.slowest(), communicationModel) *
         weight(graph.ops[op].setup);
}

double PlanCost::sidesSeconds(unsigned op, const OpStrategy &strategy) {
  const GraphOp &item = graph.ops[op];
  double seconds = 0;
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.operands, item.operands))
    seconds +=
        table.seconds(plan.values[value].sharding, side, graph.values[value]);
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.results, item.results))
    seconds +=
        table.seconds(side, plan.values[value].sharding, graph.values[value]);
  return seconds * weight(item.setup);
}

double PlanCost::valueSeconds(unsigned value, const Sharding &sharding) {
  const GraphValue &item = graph.values[value];
  double seconds = 0;
  if (item.source == ValueSource::Op)
    seconds += table.seconds(
        strategies[item.producer].shardings.results[item.resultIndex], sharding,
        item);
  for (const GraphUse &use : item.uses)
    seconds += table.seconds(
        sharding, strategies[use.op].shardings.operands[use.operand], item);
  if (item.output)
    seconds += table.seconds(sharding, endPartial(sharding), item);
  return seconds * weight(item.setup && !item.persistent);
}

} // namespace autopar
