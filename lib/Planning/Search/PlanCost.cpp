//===- PlanCost.cpp - What each part of a plan costs ----------------------===//

#include "autopar/Planning/Search/PlanCost.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

PlacePrices &PlanCost::pricesOfOp(unsigned op) {
  return pricesIn(stagesOf[op].empty() ? plan.ops[op].stage
                                       : stagesOf[op].front());
}

/// Returns the stage that makes a value, if one stage does and the function
/// that reads the value makes it.
std::optional<int64_t> PlanCost::stageOfMaker(unsigned value,
                                              bool atSetup) const {
  const GraphValue &item = graph.values[value];
  if (item.source != ValueSource::Op || item.setup != atSetup ||
      graph.repeats.isRepeated(item.producer))
    return std::nullopt;
  return plan.ops[item.producer].stage;
}

/// Returns the stages that reshard a value for `op`; nullopt: for the step's
/// result.
StageList PlanCost::stagesOfRead(unsigned value,
                                 std::optional<unsigned> op) const {
  const GraphValue &item = graph.values[value];
  if (!op && (item.source != ValueSource::Op || item.setup))
    return {0}; // an argument
  StageList stages{plan.ops[op ? *op : item.producer].stage};
  if (op)
    stages = stagesOf[*op];
  if (reads == ReadCost::PerRead)
    return stages;
  std::optional<int64_t> maker =
      stageOfMaker(value, op && graph.ops[*op].setup);
  for (int64_t &stage : stages)
    stage = reshardStage(maker, stage);
  return stages;
}

/// Returns the first of these stages; for an op that nobody needs, its planned
/// one.
int64_t PlanCost::stageOfRead(unsigned value,
                              std::optional<unsigned> op) const {
  StageList stages = stagesOfRead(value, op);
  return stages.empty() ? plan.ops[*op].stage : stages.front();
}

WantedSharding PlanCost::wantedBy(const GraphUse &use) const {
  return wantedSharding(strategies[use.op]->shardings.operands[use.operand],
                        graph.ops[use.op].facts->rule.operands[use.operand]);
}

/// Notes a reshard for a read. If several ops of a stage want the same reshard,
/// only the first notes it, and those that make it again.
void PlanCost::noteRead(unsigned value, std::optional<unsigned> op,
                        const WantedSharding &wanted,
                        const PlannedReshards::Steps &steps, bool again) {
  const Sharding &from = plan.values[value].sharding;
  if (from == wanted.sharding)
    return;
  StageList stages = stagesOfRead(value, op);
  bool atSetup = op && graph.ops[*op].setup;
  if (reads == ReadCost::Shared)
    erase_if(stages, [&](int64_t stage) {
      return std::exchange(
          (atSetup ? isMadeAtSetup : isMade).find(value, wanted, stage, again),
          true);
    });
  note({value, op, false, from, wanted.sharding, {}, {}, 0, wanted.fill, again},
       steps, stages);
}

/// Notes a reshard once for all stages in places of the same kind.
void PlanCost::note(ReshardPlace place, const PlannedReshards::Steps &steps,
                    ArrayRef<int64_t> where) {
  if (!steps || steps->empty())
    return;
  for (unsigned kind = 0; kind < prices.size(); ++kind) {
    place.stages.clear();
    copy_if(where, std::back_inserter(place.stages),
            [&](int64_t stage) { return places.kindOf[stage] == kind; });
    if (!place.stages.empty())
      noteIn(place, prices[kind].reshards.priced(*steps));
  }
}

void PlanCost::noteIn(ReshardPlace place, const ReshardPath &path) {
  place.path = path;
  std::map<size_t, StageList> stagesOfMade;
  for (int64_t stage : place.stages)
    stagesOfMade[stepsMade(place, stage)].push_back(stage);
  for (auto &[steps, where] : stagesOfMade) {
    place.stages = where;
    place.path.assign(path.begin() + steps, path.end());
    add(place);
  }
}

static bool isSameStep(const ReshardPlace &a, const ReshardPlace &b,
                       size_t index) {
  const ReshardStep &x = a.path[index], &y = b.path[index];
  return x == y && x.after == y.after &&
         (x.kind != ReshardKind::Halo || a.fill == b.fill);
}

/// Returns how many of its first steps a reshard shares with an earlier one of
/// the stage. Partition merges equal steps.
size_t PlanCost::stepsMade(const ReshardPlace &place, int64_t stage) {
  if (place.result || place.again || reads == ReadCost::PerRead)
    return 0;
  std::vector<ReshardPlace> &list =
      made[{place.value, stage, isAtSetup(place)}];
  size_t most = 0;
  for (const ReshardPlace &known : list) {
    size_t same = 0, end = std::min(known.path.size(), place.path.size());
    while (same < end && isSameStep(known, place, same))
      ++same;
    most = std::max(most, same);
  }
  list.push_back(place);
  return most;
}

void PlanCost::add(ReshardPlace place) {
  bool atSetup = isAtSetup(place);
  place.seconds = secondsOf(place.path) * weight(atSetup);
  if (place.op && (stagesOf[*place.op].size() < 2 ||
                   is_contained(place.stages, stagesOf[*place.op].front())))
    secondsAt[*place.op] += place.seconds;
  if (atSetup) {
    setup += place.seconds;
    return;
  }
  for (int64_t stage : place.stages) {
    stages[stage].communication += place.seconds;
    communication += place.seconds;
  }
  if (communicates(place.path))
    reshards.push_back(std::move(place));
}

void PlanCost::addMessages() {
  CommunicationModel model(plan.cluster, plan.mesh);
  messages = reads == ReadCost::PerRead
                 ? messagesOf(graph, plan, model)
                 : messagesOf(graph, plan, model, [&](const GraphUse &use) {
                     return wantedBy(use);
                   });
  for (const StageMessage &message : messages) {
    double seconds = message.seconds * weight(false);
    stages[message.from].messages += seconds;
    stages[message.to].messages += seconds;
  }
}

PlanCost::PlanCost(const Plan &plan, const ModelGraph &graph, ReadCost reads)
    : plan(plan), graph(graph), reads(reads), recorded(graph, plan),
      places(plan.cluster, plan.pipeline()),
      prices(pricesOf(places, plan.mesh, shared)), table(plan.mesh),
      stagesOf(autopar::stagesThatRun(graph, plan)),
      secondsAt(graph.ops.size(), 0) {
  stages.resize(plan.stages);
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
    for (const auto &[position, value] : enumerate(op.operands))
      noteRead(value, unsigned(index),
               wantedBy({unsigned(index), unsigned(position)}),
               recorded.ofOperand(index, position),
               plan.ops[index].regathersOperand(position));
    for (const auto &[position, value] : enumerate(op.results))
      note({value,
            unsigned(index),
            true,
            sides.results[position],
            shardingOf(value),
            {},
            {},
            0},
           recorded.ofResult(index, position), stagesOf[index]);
  }
  for (const auto &[index, value] : enumerate(graph.stepResults))
    noteRead(value, std::nullopt, {endPartial(shardingOf(value)), {}},
             recorded.ofReturned(index), /*again=*/false);
  addMessages();
}

double PlanCost::opSeconds(unsigned op, const OpStrategy &strategy) {
  const GraphOp &item = graph.ops[op];
  return pricesOfOp(op).opSeconds(graph, item, strategy) * weight(item.setup);
}

/// Returns which of the copies of the value in this sharding `op` reads;
/// nullopt stands for the step that returns the value.
size_t PlanCost::copyRead(unsigned value, const WantedSharding &wanted,
                          std::optional<unsigned> op) const {
  return count_if(graph.values[value].uses, [&](const GraphUse &use) {
    return (!op || use.op <= *op) &&
           plan.ops[use.op].regathersOperand(use.operand) &&
           wantedBy(use) == wanted;
  });
}

/// Returns whether the step returns the copy of the value in this sharding that
/// `op` reads, or another op reads it in the first stage of `op`.
bool PlanCost::isReadAlike(unsigned value, const WantedSharding &wanted,
                           unsigned op) const {
  const GraphValue &item = graph.values[value];
  bool atSetup = graph.ops[op].setup;
  auto isThere = [&](std::optional<unsigned> reader) {
    return is_contained(stagesOfRead(value, reader), stageOfRead(value, op)) &&
           copyRead(value, wanted, reader) == copyRead(value, wanted, op);
  };
  if (item.output && !atSetup &&
      wanted == WantedSharding{endPartial(plan.values[value].sharding), {}} &&
      isThere(std::nullopt))
    return true;
  return any_of(item.uses, [&](const GraphUse &use) {
    return use.op != op && graph.ops[use.op].setup == atSetup &&
           strategies[use.op]->shardings.operands[use.operand] ==
               wanted.sharding &&
           wantedBy(use) == wanted && isThere(use.op);
  });
}

double PlanCost::sidesSeconds(unsigned op, const OpStrategy &strategy) {
  const GraphOp &item = graph.ops[op];
  double seconds = 0;
  SharedReshards<unsigned, bool> isPaid; // by an earlier operand
  for (const auto &[position, value] : enumerate(item.operands)) {
    const Sharding &planned = plan.values[value].sharding;
    WantedSharding wanted =
        wantedSharding(strategy.shardings.operands[position],
                       item.facts->rule.operands[position]);
    if (planned != wanted.sharding && !isReadAlike(value, wanted, op) &&
        !std::exchange(isPaid.find(value, wanted, 0), true))
      seconds +=
          pricesIn(stageOfRead(value, op))
              .reshardSeconds(planned, wanted.sharding, graph.values[value]);
  }
  for (const auto &[side, value] :
       zip_equal(strategy.shardings.results, item.results))
    seconds += pricesOfOp(op).reshardSeconds(side, plan.values[value].sharding,
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
  SharedReshards<unsigned, bool> isPaid, isPaidAtSetup;
  auto read = [&](std::optional<unsigned> op, const WantedSharding &wanted,
                  bool again) {
    int64_t stage = stageOfRead(value, op);
    bool atSetup = op && graph.ops[*op].setup;
    if (!std::exchange((atSetup ? isPaidAtSetup : isPaid)
                           .find(value, wanted, stage, again),
                       true))
      seconds +=
          pricesIn(stage).reshardSeconds(sharding, wanted.sharding, item);
  };
  for (const GraphUse &use : item.uses)
    read(use.op, wantedBy(use), plan.ops[use.op].regathersOperand(use.operand));
  if (item.output)
    read(std::nullopt, {endPartial(sharding), {}}, /*again=*/false);
  return seconds * weight(item.setup && !item.persistent);
}

/// Returns the seconds of all stages. While other stages wait, a stage gets
/// more than its share of the cores: seconds that exceed those of the step are
/// reduced to them.
std::vector<StageCost> stageCosts(const Plan &plan, const ModelGraph &graph,
                                  ReadCost reads) {
  std::vector<StageCost> stages = PlanCost(plan, graph, reads).stages;
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

} // namespace autopar
