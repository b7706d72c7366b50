//===- ProblemInStages.cpp - A problem whose ops are in stages ------------===//
//
// Once a plan says in which stages ops are, they have the prices of their
// places, values that pass a cut cost a message by how they are sharded, and
// what counts of a stage's seconds is a matter of the others.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace autopar {

namespace {

/// Per kind of place how much a second counts there.
using PlaceWeights = SmallVector<double, 2>;

/// How much seconds count of ops and operands in stages.
class WeightsInStages {
public:
  WeightsInStages(const Plan &plan, const StagePlaces &places,
                  ArrayRef<StageWeight> weights)
      : plan(plan), places(places), weights(weights) {}
  /// `sum` gets the weight of another op of its class.
  void add(PlaceWeights &sum, unsigned op) const {
    int64_t stage = plan.ops[op].stage;
    sum.resize(places.kinds.size(), 0);
    sum[places.kindOf[stage]] += weights[stage].compute;
  }

private:
  const Plan &plan;
  const StagePlaces &places;
  ArrayRef<StageWeight> weights;
};

} // namespace

/// What the ops of each class take.
void ProblemBuilder::weighOps(const Plan &plan, ArrayRef<StageWeight> weights,
                              Problem &staged) const {
  WeightsInStages inStages(plan, places, weights);
  std::vector<PlaceWeights> sums(classes.firstOp.size());
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      inStages.add(sums[classes.ofOp[index]], index);
  for (const auto &[opClass, sum] : enumerate(sums)) {
    if (sum.empty())
      continue;
    const OpKind &kind = kindOf(opClass);
    const GraphOp &op = graph.ops[classes.firstOp[opClass]];
    std::vector<double> &seconds = staged.nodes[opNode(opClass)].seconds;
    for (auto [choice, strategy] : enumerate(offered[opClass])) {
      seconds[choice] = 0;
      for (auto [place, weight] : zip_equal(prices, sum))
        if (weight > 0)
          seconds[choice] +=
              weight * place.opSeconds(graph, op, kind.strategies[strategy]);
    }
  }
}

/// The reshards at an edge.
void ProblemBuilder::weighEdge(const EdgeKey &key, ArrayRef<double> weights,
                               ProblemEdge &edge) const {
  const GraphValue &value = firstValue(key.value);
  llvm::fill(edge.seconds, 0);
  for (auto [place, weight] : zip_equal(prices, weights)) {
    if (weight == 0)
      continue;
    ReshardTable &table = place.reshards;
    unsigned type = table.typeOf(value.shape, value.elementBytes);
    SmallVector<unsigned, 0> numbers;
    for (const Sharding &candidate : candidates[key.value])
      numbers.push_back(table.numberOf(candidate));
    size_t cell = 0;
    for (unsigned strategy : offered[key.op]) {
      unsigned side =
          table.numberOf(shardingAt(key, kindOf(key.op).strategies[strategy]));
      for (unsigned number : numbers)
        edge.seconds[cell++] +=
            weight * (key.result ? table.seconds(side, number, type)
                                 : table.seconds(number, side, type));
    }
  }
}

void ProblemBuilder::weighEdges(const Plan &plan, ArrayRef<StageWeight> weights,
                                Problem &staged) const {
  WeightsInStages inStages(plan, places, weights);
  std::vector<PlaceWeights> sums(problem.edges.size());
  auto add = [&](unsigned op, unsigned value, bool result, unsigned position) {
    EdgeKey key{classes.ofOp[op], classes.ofValue[value], result, position};
    inStages.add(sums[folded.edges.at(key).index], op);
  };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    for (const auto &[position, value] : enumerate(op.results))
      add(index, value, true, position);
    for (const auto &[position, value] : enumerate(op.operands))
      add(index, value, false, op.facts->alike[position]);
  }
  for (const auto &[key, item] : folded.edges)
    if (!sums[item.index].empty())
      weighEdge(key, sums[item.index], staged.edges[item.index]);
}

/// Values that are returned, where they are made, and those that pass a cut,
/// once to each later stage that reads them.
void ProblemBuilder::weighValues(const Plan &plan,
                                 ArrayRef<StageWeight> weights,
                                 Problem &staged) const {
  CommunicationModel communication(cluster, mesh);
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (value.source != ValueSource::Op || value.setup)
      continue;
    unsigned valueClass = classes.ofValue[index];
    std::vector<double> &seconds = staged.nodes[valueNode(valueClass)].seconds;
    if (classes.firstValue[valueClass] == index)
      llvm::fill(seconds, 0);
    int64_t from = plan.ops[value.producer].stage;
    std::set<int64_t> readers;
    for (const GraphUse &use : value.uses)
      if (value.fromInput && plan.ops[use.op].stage != from)
        readers.insert(plan.ops[use.op].stage);
    if (!value.output && readers.empty())
      continue;
    for (auto [choice, candidate] : enumerate(candidates[valueClass])) {
      if (value.output && !candidate.partial.empty())
        seconds[choice] += weights[from].compute *
                           prices[places.kindOf[from]].reshardSeconds(
                               candidate, endPartial(candidate), value);
      int64_t bytes = localBytes(value, candidate, mesh);
      for (int64_t to : readers)
        seconds[choice] += (weights[from].messages + weights[to].messages) *
                           communication.sendSeconds(bytes, from, to);
    }
  }
}

Problem ProblemBuilder::inStages(const Plan &plan,
                                 ArrayRef<StageWeight> weights) const {
  Problem staged = problem;
  weighOps(plan, weights, staged);
  weighEdges(plan, weights, staged);
  weighValues(plan, weights, staged);
  return staged;
}

} // namespace autopar
