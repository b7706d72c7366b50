//===- Launches.h - The launches of a plan ----------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_LAUNCHES_H
#define AUTOPAR_PLANNING_PLAN_LAUNCHES_H

#include "autopar/Planning/Plan/PlannedReshards.h"

namespace autopar {

/// A launch of one stage: a kernel group, or a part of one where a reshard or a
/// border of stages cuts it.
struct Launch {
  int64_t stage = 0;
  const GraphStep *step = nullptr;
  llvm::SmallVector<unsigned> ops;
};

/// The launches of a plan in order.
class LaunchList {
public:
  /// All arguments must outlive the list.
  LaunchList(const ModelGraph &graph, const Plan &plan,
             const PlannedReshards &reshards);

  llvm::ArrayRef<Launch> all() const { return launches; }
  /// Returns whether @step computes `value`.
  bool isComputed(unsigned value) const {
    return graph.values[value].source == ValueSource::Op &&
           !graph.values[value].setup;
  }
  /// Returns, per value, whether it has to be in memory, since another launch
  /// than its own reads it or it is a result.
  std::vector<bool> storedValues() const;

private:
  llvm::SmallVector<int64_t> stagesOf(const GraphStep &step) const;
  void form();
  bool isCut(unsigned op, unsigned operand) const;

  const ModelGraph &graph;
  const Plan &plan;
  const PlannedReshards &reshards;
  std::vector<Launch> launches;
};

/// Returns whether some steps of a reshard communicate. A reshard that only
/// takes a slice is no work of its own if a kernel reads the value: the kernel
/// makes the slice while it reads.
inline bool movesData(const PlannedReshards::Steps &steps) {
  return steps && communicates(*steps);
}

/// Returns whether an input is read in place and takes no memory of a device
/// (Cost/HeldInputs.h).
bool isReadInPlace(const ModelGraph &graph, const GraphValue &value,
                   const Sharding &sharding, const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_LAUNCHES_H
