//===- SolutionPlan.cpp - What a solution means for ops and values --------===//

#include "ProblemBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

std::vector<std::vector<double>>
ProblemBuilder::opSeconds(ArrayRef<unsigned> choice) const {
  std::vector<std::vector<double>> seconds;
  for (PlacePrices &place : prices) {
    std::vector<double> &ofPlace = seconds.emplace_back();
    for (const auto &[index, op] : enumerate(graph.ops)) {
      const OpStrategy &strategy = opStrategy(choice, index);
      double sum = place.opSeconds(graph, op, strategy);
      for (const auto &[position, value] : enumerate(op.operands))
        sum += place.reshardSeconds(valueSharding(choice, value),
                                    strategy.shardings.operands[position],
                                    graph.values[value]);
      for (const auto &[position, value] : enumerate(op.results)) {
        const GraphValue &item = graph.values[value];
        const Sharding &sharding = valueSharding(choice, value);
        sum += place.reshardSeconds(strategy.shardings.results[position],
                                    sharding, item);
        if (item.output)
          sum += place.reshardSeconds(sharding, endPartial(sharding), item);
      }
      ofPlace.push_back(sum);
    }
  }
  return seconds;
}

void ProblemBuilder::writeDecisions(ArrayRef<unsigned> choice, Plan &plan,
                                    ArrayRef<unsigned> before) const {
  auto isKept = [&](unsigned node) {
    return !before.empty() && before[node] == choice[node];
  };
  plan.modelHash = graph.hash;
  plan.cluster = cluster;
  plan.mesh = mesh;
  plan.ops.resize(graph.ops.size());
  for (auto [index, op] : enumerate(plan.ops)) {
    if (isKept(opNode(classes.ofOp[index])))
      continue;
    op.name = graph.ops[index].name;
    op.assignment = opStrategy(choice, index).assignment;
  }
  plan.values.resize(graph.values.size());
  for (auto [index, value] : enumerate(plan.values)) {
    if (isKept(valueNode(classes.ofValue[index])))
      continue;
    value.name = graph.values[index].name;
    value.sharding = valueSharding(choice, index);
  }
}

void ProblemBuilder::writePlan(const Solution &solution, Plan &plan) const {
  writeDecisions(solution.choice, plan);
  // Setup runs once, so the seconds of a step leave it out.
  plan.predictedStepSeconds = problem.undeferredSecondsOf(solution.choice);
  plan.predictedPeakMemoryBytes = solution.peakBytes;
  plan.lowerBoundSeconds =
      std::min(solution.lowerBound, plan.predictedStepSeconds);
}

} // namespace autopar
