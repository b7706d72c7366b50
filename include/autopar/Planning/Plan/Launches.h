//===- Launches.h - The launches of a plan ----------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_LAUNCHES_H
#define AUTOPAR_PLANNING_PLAN_LAUNCHES_H

#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// A launch of one stage: a kernel group, or a part of one where a reshard or a
/// border of stages cuts it.
struct Launch {
  int64_t stage = 0;
  const GraphStep *step = nullptr;
  llvm::SmallVector<unsigned> ops;
};

/// The launches of a plan in order, and how the values between them are
/// sharded.
class LaunchList {
public:
  /// The assignments of the plan must be legal (verify). All arguments must
  /// outlive the list.
  LaunchList(const ModelGraph &graph, const Plan &plan, ReshardCache &reshards);

  llvm::ArrayRef<Launch> all() const { return launches; }
  const OpShardings &shardings(unsigned op) const { return *sides[op]; }
  /// Returns the sharding that the op that makes `value` gives it.
  const Sharding &given(unsigned value) const {
    const GraphValue &what = graph.values[value];
    return sides[what.producer]->results[what.resultIndex];
  }
  /// Returns whether @step computes `value`.
  bool isComputed(unsigned value) const {
    return graph.values[value].source == ValueSource::Op &&
           !graph.values[value].setup;
  }
  /// Returns whether a change of sharding moves data. A slice does not: a
  /// kernel makes it while it reads.
  bool moves(unsigned value, const Sharding &from, const Sharding &to) const;
  /// Returns, per value, whether it has to be in memory, since another launch
  /// than its own reads it or it is a result.
  std::vector<bool> storedValues() const;

private:
  llvm::SmallVector<int64_t> stagesOf(const GraphStep &step) const;
  void form();
  bool isCut(unsigned value, const Sharding &want) const;

  const ModelGraph &graph;
  const Plan &plan;
  ReshardCache &reshards;
  StrategyTable strategies;
  std::vector<const OpShardings *> sides; // per op
  std::vector<Launch> launches;
};

/// Returns whether an input is read in place and takes no memory of a device
/// (Cost/HeldInputs.h).
bool isReadInPlace(const ModelGraph &graph, const GraphValue &value,
                   const Sharding &sharding, const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_LAUNCHES_H
