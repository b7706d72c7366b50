//===- PlannedReshards.h - The steps of a plan's reshards -------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_PLANNEDRESHARDS_H
#define AUTOPAR_PLANNING_PLAN_PLANNEDRESHARDS_H

#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// The steps of each reshard of a plan: from the sharding that an op gives a
/// result to the one in which the value is stored, and from there to the one
/// that each reader wants. The launches, the work, the costs and the attributes
/// of a plan (WritePlan.h) all take the steps from here.
class PlannedReshards {
public:
  /// The assignments of the plan must be legal (verify). Both arguments must
  /// outlive this object.
  PlannedReshards(const ModelGraph &graph, const Plan &plan);

  /// Returns the steps; they are empty if the sharding stays, and nullopt if no
  /// steps lead to the other one.
  using Steps = std::optional<ReshardPath>;
  const Steps &ofOperand(unsigned op, unsigned operand) const {
    return *operands[firstOperand[op] + operand];
  }
  const Steps &ofResult(unsigned op, unsigned result) const {
    return *results[firstResult[op] + result];
  }
  /// Returns the steps to the sharding in which @step returns its result of
  /// this number.
  const Steps &ofReturned(unsigned result) const { return *returned[result]; }

  const OpShardings &shardings(unsigned op) const { return *sides[op]; }
  /// Returns the sharding that the op that makes `value` gives it.
  const Sharding &given(unsigned value) const {
    const GraphValue &what = graph.values[value];
    return sides[what.producer]->results[what.resultIndex];
  }

private:
  const Steps *find(unsigned value, const Sharding &from, const Sharding &to);

  const ModelGraph &graph;
  StrategyTable strategies;
  ReshardCache paths;
  std::vector<const OpShardings *> sides;          // per op
  std::vector<unsigned> firstOperand, firstResult; // per op
  std::vector<const Steps *> operands, results, returned;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PLANNEDRESHARDS_H
