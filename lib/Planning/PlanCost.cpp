//===- PlanCost.cpp - What each part of a plan costs ----------------------===//

#include "PlanCost.h"
#include "Messages.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// What depends on no input runs in each stage that reads it.
void PlanCost::findStages() {
  stages.resize(plan.stages);
  stagesOf.resize(graph.ops.size());
  for (unsigned value : graph.stepResults)
    if (graph.values[value].source == ValueSource::Op) {
      unsigned op = graph.values[value].producer;
      stagesOf[op] = {plan.ops[op].stage};
    }
  for (size_t index = graph.ops.size(); index-- > 0;) {
    const GraphOp &op = graph.ops[index];
    SmallVector<int64_t, 1> &list = stagesOf[index];
    if (!graph.isRepeated(op)) {
      list = {plan.ops[index].stage};
      continue;
    }
    for (unsigned result : op.results)
      for (const GraphUse &use : graph.values[result].uses)
        list.append(stagesOf[use.op]);
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
  }
}

void PlanCost::note(ReshardPlace place) {
  if (place.from == place.to)
    return;
  const GraphValue &value = graph.values[place.value];
  std::optional<ReshardPath> path =
      table.path(place.from, place.to, value.shape, value.elementBytes);
  if (!path)
    return;
  bool atSetup = value.setup && (!place.op || graph.ops[*place.op].setup);
  place.path = std::move(*path);
  place.seconds = secondsOf(place.path) * weight(atSetup);
  if (atSetup) {
    setup += place.seconds;
    return;
  }
  SmallVector<int64_t, 1> where{0}; // a returned argument
  if (place.op || value.source == ValueSource::Op)
    where = stagesOf[place.op ? *place.op : value.producer];
  for (int64_t stage : where) {
    stages[stage].communication += place.seconds;
    communication += place.seconds;
  }
  if (any_of(place.path,
             [](const ReshardStep &step) { return !isLocal(step.kind); }))
    reshards.push_back(std::move(place));
}

void PlanCost::addMessages() {
  for (const StageMessage &message :
       messagesOf(graph, plan, communicationModel)) {
    double seconds = message.seconds * weight(false);
    stages[message.from].messages += seconds;
    stages[message.to].messages += seconds;
  }
}

PlanCost::PlanCost(const Plan &plan, const ModelGraph &graph)
    : plan(plan), graph(graph), communicationModel(plan.cluster, plan.mesh),
      table(plan.mesh,
            CommunicationModel::reshardCost(plan.cluster, plan.mesh)) {
  findStages();
  auto shardingOf = [&](unsigned value) { return plan.values[value].sharding; };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const Assignment &assignment = plan.ops[index].assignment;
    strategies.push_back(
        {assignment, *shardingsOf(op.rule, assignment, plan.mesh)});
    const OpShardings &sides = strategies.back().shardings;
    double seconds = opSeconds(index, strategies.back());
    if (op.setup)
      setup += seconds;
    else
      for (int64_t stage : stagesOf[index]) {
        stages[stage].compute += seconds;
        compute += seconds;
      }
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
  addMessages();
}

double PlanCost::opSeconds(unsigned op, const OpStrategy &strategy) {
  return strategySeconds(graph, graph.ops[op], strategy, plan.mesh,
                         plan.cluster.slowest(), communicationModel) *
         weight(graph.ops[op].setup);
}

double PlanCost::reshardSeconds(const Sharding &from, const Sharding &to,
                                const GraphValue &value) {
  return table.seconds(from, to, value.shape, value.elementBytes);
}

double PlanCost::sidesSeconds(unsigned op, const OpStrategy &strategy) {
  const GraphOp &item = graph.ops[op];
  double seconds = 0;
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.operands, item.operands))
    seconds +=
        reshardSeconds(plan.values[value].sharding, side, graph.values[value]);
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.results, item.results))
    seconds +=
        reshardSeconds(side, plan.values[value].sharding, graph.values[value]);
  return seconds * weight(item.setup);
}

double PlanCost::valueSeconds(unsigned value, const Sharding &sharding) {
  const GraphValue &item = graph.values[value];
  double seconds = 0;
  if (item.source == ValueSource::Op)
    seconds += reshardSeconds(
        strategies[item.producer].shardings.results[item.resultIndex], sharding,
        item);
  for (const GraphUse &use : item.uses)
    seconds += reshardSeconds(
        sharding, strategies[use.op].shardings.operands[use.operand], item);
  if (item.output)
    seconds += reshardSeconds(sharding, endPartial(sharding), item);
  return seconds * weight(item.setup && !item.persistent);
}

std::vector<StageCost> stageCosts(const Plan &plan, const ModelGraph &graph) {
  return PlanCost(plan, graph).stages;
}

} // namespace autopar
