//===- Limits.h - What constraints leave to ops and values ----------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_LIMITS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_LIMITS_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// The choices that one sub-axis has in an op.
struct SubAxisLimit {
  std::optional<llvm::SmallVector<Choice, 2>> only; // nullopt: any choice
  llvm::SmallVector<Choice, 2> never;
  bool allows(const Choice &choice) const {
    return (!only || llvm::is_contained(*only, choice)) &&
           !llvm::is_contained(never, choice);
  }
};

struct OpLimit {
  llvm::SmallVector<SubAxisLimit> subAxes; // empty: no limit
  llvm::SmallVector<unsigned> from;        // indices of Constraints::list
  bool allows(const Assignment &assignment) const;
};

/// A ShardingPattern for one value: for each dimension its sub-axes, or nullopt
/// if it may be split in any way.
struct ShardingLimit {
  llvm::SmallVector<std::optional<llvm::SmallVector<unsigned, 2>>> dims;
  llvm::SmallVector<Partial, 2> partial; // ordered by sub-axis
  unsigned from = 0;
  /// Returns whether `sharding`, without its time sub-axes, is as this limit
  /// says.
  bool matches(const Sharding &sharding, const Mesh &mesh) const;
};

struct ValueLimit {
  llvm::SmallVector<ShardingLimit, 1> pins, forbids;
  bool empty() const { return pins.empty() && forbids.empty(); }
  bool allows(const Sharding &sharding, const Mesh &mesh) const;
  /// Returns `sharding` changed to what the pins demand.
  Sharding fit(Sharding sharding, const Mesh &mesh) const;
};

struct StageLimit {
  std::optional<int64_t> only;
  llvm::SmallVector<int64_t, 1> never;
  unsigned from = 0;
  bool allows(int64_t stage) const {
    return (!only || *only == stage) && !llvm::is_contained(never, stage);
  }
};

/// The limits of all ops and values of a graph on one mesh. Lists are empty if
/// there are no limits.
struct Limits {
  const Constraints *constraints = nullptr;
  std::vector<OpLimit> ops;
  std::vector<ValueLimit> values;
  std::vector<StageLimit> stages; // per op
  /// Returns a text that differs between ops whose limits differ, or whose
  /// operands and results have different limits; "" if there are no limits.
  std::string markOf(const ModelGraph &graph, unsigned op) const;
};

/// Returns an error for an op that has no assignment left. Its message says
/// which assignments the op has without the limits.
llvm::Error cannotMeet(const Limits &limits, const ModelGraph &graph,
                       unsigned op, const Mesh &mesh);
llvm::Error cannotShard(const Limits &limits, const GraphValue &value,
                        const ValueLimit &limit, const Mesh &mesh,
                        llvm::ArrayRef<Sharding> known);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_LIMITS_H
