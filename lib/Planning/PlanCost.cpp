//===- PlanCost.cpp - What each part of a plan costs ----------------------===//

#include "PlanCost.h"
#include "Messages.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

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

PlacePrices &PlanCost::pricesOfOp(unsigned op) {
  return pricesIn(stagesOf[op].empty() ? plan.ops[op].stage
                                       : stagesOf[op].front());
}

/// Once for all stages in places alike.
void PlanCost::note(ReshardPlace place) {
  if (place.from == place.to)
    return;
  const GraphValue &value = graph.values[place.value];
  SmallVector<int64_t, 1> where{0}; // a returned argument
  if (place.op || value.source == ValueSource::Op)
    where = stagesOf[place.op ? *place.op : value.producer];
  for (unsigned kind = 0; kind < prices.size(); ++kind) {
    place.stages.clear();
    copy_if(where, std::back_inserter(place.stages),
            [&](int64_t stage) { return places.kindOf[stage] == kind; });
    if (!place.stages.empty())
      noteIn(place, prices[kind].reshards);
  }
}

void PlanCost::noteIn(ReshardPlace place, const ReshardTable &table) {
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
  for (int64_t stage : place.stages) {
    stages[stage].communication += place.seconds;
    communication += place.seconds;
  }
  if (any_of(place.path,
             [](const ReshardStep &step) { return !isLocal(step.kind); }))
    reshards.push_back(std::move(place));
}

void PlanCost::addMessages() {
  CommunicationModel model(plan.cluster, plan.mesh);
  for (const StageMessage &message : messagesOf(graph, plan, model)) {
    double seconds = message.seconds * weight(false);
    stages[message.from].messages += seconds;
    stages[message.to].messages += seconds;
  }
}

PlanCost::PlanCost(const Plan &plan, const ModelGraph &graph)
    : plan(plan), graph(graph), places(plan.cluster, plan.pipeline()),
      prices(pricesOf(places, plan.mesh, shared)), table(plan.mesh) {
  findStages();
  strategies.reserve(graph.ops.size());
  auto shardingOf = [&](unsigned value) { return plan.values[value].sharding; };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const OpStrategy &strategy = *table.find(op, plan.ops[index].assignment);
    strategies.push_back(&strategy);
    const OpShardings &sides = strategy.shardings;
    if (op.setup)
      setup += opSeconds(index, strategy);
    else
      for (int64_t stage : stagesOf[index]) {
        double seconds =
            pricesIn(stage).opSeconds(graph, op, strategy) * weight(false);
        stages[stage].compute += seconds;
        compute += seconds;
      }
    for (const auto &[side, value] : zip_equal(sides.operands, op.operands))
      note({value, unsigned(index), false, shardingOf(value), side, {}, {}, 0});
    for (const auto &[side, value] : zip_equal(sides.results, op.results))
      note({value, unsigned(index), true, side, shardingOf(value), {}, {}, 0});
  }
  for (unsigned value : graph.stepResults)
    note({value,
          std::nullopt,
          false,
          shardingOf(value),
          endPartial(shardingOf(value)),
          {},
          {},
          0});
  addMessages();
}

double PlanCost::opSeconds(unsigned op, const OpStrategy &strategy) {
  const GraphOp &item = graph.ops[op];
  return pricesOfOp(op).opSeconds(graph, item, strategy) * weight(item.setup);
}

double PlanCost::sidesSeconds(unsigned op, const OpStrategy &strategy) {
  const GraphOp &item = graph.ops[op];
  PlacePrices &place = pricesOfOp(op);
  double seconds = 0;
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.operands, item.operands))
    seconds += place.reshardSeconds(plan.values[value].sharding, side,
                                    graph.values[value]);
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.results, item.results))
    seconds += place.reshardSeconds(side, plan.values[value].sharding,
                                    graph.values[value]);
  return seconds * weight(item.setup);
}

double PlanCost::valueSeconds(unsigned value, const Sharding &sharding) {
  const GraphValue &item = graph.values[value];
  bool made = item.source == ValueSource::Op;
  double seconds = 0;
  if (made)
    seconds +=
        pricesOfOp(item.producer)
            .reshardSeconds(
                strategies[item.producer]->shardings.results[item.resultIndex],
                sharding, item);
  for (const GraphUse &use : item.uses)
    seconds += pricesOfOp(use.op).reshardSeconds(
        sharding, strategies[use.op]->shardings.operands[use.operand], item);
  if (item.output) {
    PlacePrices &place = made ? pricesOfOp(item.producer) : pricesIn(0);
    seconds += place.reshardSeconds(sharding, endPartial(sharding), item);
  }
  return seconds * weight(item.setup && !item.persistent);
}

/// Of a stage that has more than its share of cores, as other stages wait, it
/// is what it takes then.
std::vector<StageCost> stageCosts(const Plan &plan, const ModelGraph &graph) {
  std::vector<StageCost> stages = PlanCost(plan, graph).stages;
  for (StageCost &stage : stages) {
    double busy = stage.busy();
    if (plan.predictedStepSeconds <= 0 || busy <= plan.predictedStepSeconds)
      continue;
    double share = plan.predictedStepSeconds / busy;
    for (double *part : {&stage.compute, &stage.communication, &stage.messages})
      *part *= share;
  }
  return stages;
}

void countCollectives(const ModelGraph &graph, Plan &plan) {
  plan.collectives.clear();
  std::map<std::string, size_t> index;
  int64_t times = plan.mesh.timeCount();
  auto add = [&](PlannedCollective item, int64_t count, double seconds) {
    std::string key = item.kind + "," + std::to_string(item.bytes);
    for (unsigned subAxis : item.subAxes)
      key += "," + std::to_string(subAxis);
    auto [it, inserted] = index.try_emplace(key, plan.collectives.size());
    if (inserted)
      plan.collectives.push_back(std::move(item));
    plan.collectives[it->second].count += count;
    plan.collectives[it->second].seconds += double(count) * seconds;
  };
  for (const ReshardPlace &place : PlanCost(plan, graph).reshards)
    for (const ReshardStep &step : place.path) {
      if (isLocal(step.kind))
        continue;
      PlannedCollective item;
      item.kind = stringifyReshardKind(step.kind).str();
      item.subAxes = step.subAxes;
      item.bytes = step.bytes;
      add(std::move(item), times * int64_t(place.stages.size()), step.seconds);
    }
  CommunicationModel model(plan.cluster, plan.mesh);
  for (const StageMessage &message : messagesOf(graph, plan, model)) {
    PlannedCollective send;
    send.kind = "send";
    send.bytes = message.bytes;
    add(std::move(send), times, message.seconds);
  }
}

} // namespace autopar
