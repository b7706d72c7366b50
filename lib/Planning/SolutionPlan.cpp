//===- SolutionPlan.cpp - What a solution means for ops and values --------===//

#include "ProblemBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

void ProblemBuilder::countCollectives(ArrayRef<unsigned> choice,
                                      Plan &plan) const {
  std::map<std::string, size_t> index;
  auto count = [&](const Sharding &from, const Sharding &to,
                   const GraphValue &value, double weight) {
    std::optional<ReshardPath> path =
        reshards.path(from, to, value.shape, value.elementBytes);
    if (!path)
      return;
    for (const ReshardStep &step : *path) {
      if (isLocal(step.kind))
        continue;
      PlannedCollective item;
      item.kind = stringifyReshardKind(step.kind).str();
      item.subAxes = step.subAxes;
      item.bytes = step.bytes;
      std::string key = item.kind + "," + std::to_string(item.bytes);
      for (unsigned subAxis : item.subAxes)
        key += "," + std::to_string(subAxis);
      auto [it, inserted] = index.try_emplace(key, plan.collectives.size());
      if (inserted)
        plan.collectives.push_back(std::move(item));
      plan.collectives[it->second].count += int64_t(weight);
      plan.collectives[it->second].seconds += weight * step.seconds;
    }
  };
  for (const auto &[opIndex, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    const OpShardings &s = opStrategy(choice, opIndex).shardings;
    for (const auto &[position, value] : enumerate(op.operands))
      count(valueSharding(choice, value), s.operands[position],
            graph.values[value], weightOf(false));
    for (const auto &[position, value] : enumerate(op.results))
      count(s.results[position], valueSharding(choice, value),
            graph.values[value], weightOf(false));
  }
  for (unsigned value : graph.stepResults)
    count(valueSharding(choice, value),
          endPartial(valueSharding(choice, value)), graph.values[value],
          weightOf(false));
}

std::vector<double> ProblemBuilder::opSeconds(ArrayRef<unsigned> choice) const {
  std::vector<double> seconds;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const OpStrategy &strategy = opStrategy(choice, index);
    double sum = strategySeconds(graph, op, strategy, mesh, cluster.slowest(),
                                 communication);
    auto add = [&](const Sharding &from, const Sharding &to, unsigned value) {
      const GraphValue &item = graph.values[value];
      sum += reshards.seconds(from, to, item.shape, item.elementBytes);
    };
    for (const auto &[position, value] : enumerate(op.operands))
      add(valueSharding(choice, value), strategy.shardings.operands[position],
          value);
    for (const auto &[position, value] : enumerate(op.results)) {
      const Sharding &sharding = valueSharding(choice, value);
      add(strategy.shardings.results[position], sharding, value);
      if (graph.values[value].output)
        add(sharding, endPartial(sharding), value);
    }
    seconds.push_back(sum);
  }
  return seconds;
}

void ProblemBuilder::writeDecisions(ArrayRef<unsigned> choice,
                                    Plan &plan) const {
  plan.modelHash = graph.hash;
  plan.cluster = cluster;
  plan.mesh = mesh;
  plan.ops.clear();
  for (const auto &[index, op] : enumerate(graph.ops))
    plan.ops.push_back({op.name, opStrategy(choice, index).assignment, 0});
  plan.values.clear();
  for (const auto &[index, value] : enumerate(graph.values))
    plan.values.push_back({value.name, valueSharding(choice, index)});
}

void ProblemBuilder::writePlan(const Solution &solution, Plan &plan) const {
  writeDecisions(solution.choice, plan);
  // Setup runs once, whatever the search weighs it.
  plan.predictedStepSeconds = problem.undeferredSecondsOf(solution.choice);
  plan.predictedPeakMemoryBytes = solution.peakBytes;
  plan.lowerBoundSeconds =
      std::min(solution.lowerBound, plan.predictedStepSeconds);
  plan.collectives.clear();
  countCollectives(solution.choice, plan);
}

} // namespace autopar
