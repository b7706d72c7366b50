//===- PredictStep.cpp - What a plan that was found takes -----------------===//

#include "autopar/Planning/Search/PredictStep.h"
#include "autopar/Planning/Search/PlanCost.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

double stepSeconds(const PlanCost &cost, const Plan &plan) {
  double times = double(plan.microBatches);
  std::vector<double> seconds, messages;
  for (const StageCost &stage : cost.stages) {
    seconds.push_back(stage.busy() / times);
    messages.push_back(stage.messages / times);
  }
  return StagePlaces(plan.cluster, plan.pipeline())
      .stepSeconds(seconds, messages);
}

namespace {

/// The collectives of a step. Those of the same kind, size and place are added
/// up.
class CollectiveList {
public:
  void add(std::string kind, ArrayRef<unsigned> subAxes, int64_t bytes,
           int64_t count, double seconds) {
    std::string key = kind + "," + std::to_string(bytes);
    for (unsigned subAxis : subAxes)
      key += "," + std::to_string(subAxis);
    auto [it, isNew] = index.try_emplace(key, list.size());
    if (isNew) {
      PlannedCollective &item = list.emplace_back();
      item.kind = std::move(kind);
      item.subAxes.assign(subAxes.begin(), subAxes.end());
      item.bytes = bytes;
    }
    list[it->second].count += count;
    list[it->second].seconds += double(count) * seconds;
  }
  void add(const ReshardStep &step, int64_t count) {
    if (!isLocal(step.kind))
      add(stringifyReshardKind(step.kind).str(), step.subAxes, step.bytes,
          count, step.seconds);
  }
  std::vector<PlannedCollective> list;

private:
  std::map<std::string, size_t> index;
};

} // namespace

static std::vector<PlannedCollective>
collectivesOf(PlanCost &cost, const ModelGraph &graph, const Plan &plan) {
  CollectiveList collectives;
  int64_t times = plan.mesh.timeCount();
  for (const ReshardPlace &place : cost.reshards)
    for (const ReshardStep &step : place.path)
      collectives.add(step, times * int64_t(place.stages.size()));
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      if (std::optional<ReshardStep> step = cost.combiningStep(index))
        collectives.add(*step, times * op.facts->reductions *
                                   int64_t(cost.stagesThatRun(index).size()));
  for (const StageMessage &message : cost.messages)
    collectives.add("send", {}, message.bytes, times, message.seconds);
  return std::move(collectives.list);
}

void predictStep(const ModelGraph &graph, double least, Plan &plan,
                 MutableArrayRef<SearchTrial> tried) {
  constexpr double kEqual = 1e-9; // sums may differ in their order
  PlanCost cost(plan, graph);
  plan.collectives = collectivesOf(cost, graph, plan);
  double searched = plan.predictedStepSeconds;
  double seconds = stepSeconds(cost, plan), saved = searched - seconds;
  if (std::abs(saved) > kEqual * searched) {
    plan.predictedStepSeconds = seconds;
    least -= std::max(saved, 0.0);
  }
  plan.setLowerBound(least);
  for (SearchTrial &trial : tried) {
    if (!trial.best)
      continue;
    trial.seconds = plan.predictedStepSeconds;
    trial.lowerBoundSeconds = std::min(trial.lowerBoundSeconds, trial.seconds);
  }
}

} // namespace autopar
