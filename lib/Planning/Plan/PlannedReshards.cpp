//===- PlannedReshards.cpp - The steps of a plan's reshards ---------------===//

#include "autopar/Planning/Plan/PlannedReshards.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

const PlannedReshards::Steps *PlannedReshards::find(unsigned value,
                                                    const Sharding &from,
                                                    const Sharding &to) {
  static const Steps none = ReshardPath();
  if (from == to)
    return &none;
  const GraphValue &what = graph.values[value];
  return &paths.get(from, to, what.shape, what.elementBytes);
}

PlannedReshards::PlannedReshards(const ModelGraph &graph, const Plan &plan)
    : graph(graph), strategies(plan.mesh),
      paths(plan.mesh,
            CommunicationModel::reshardCost(plan.cluster, plan.mesh)) {
  auto stored = [&](unsigned value) -> const Sharding & {
    return plan.values[value].sharding;
  };
  sides.reserve(graph.ops.size());
  for (auto [op, planned] : zip_equal(graph.ops, plan.ops)) {
    const OpStrategy *strategy = strategies.find(op, planned.assignment);
    assert(strategy && "an op cannot run as planned");
    const OpShardings &side = strategy->shardings;
    sides.push_back(&side);
    firstOperand.push_back(operands.size());
    for (auto [value, want] : zip_equal(op.operands, side.operands))
      operands.push_back(find(value, stored(value), want));
    firstResult.push_back(results.size());
    for (auto [value, given] : zip_equal(op.results, side.results))
      results.push_back(find(value, given, stored(value)));
  }
  for (unsigned value : graph.stepResults)
    returned.push_back(find(value, stored(value), endPartial(stored(value))));
}

} // namespace autopar
