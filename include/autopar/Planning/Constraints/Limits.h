//===- Limits.h - What constraints leave to ops and values ----------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_LIMITS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_LIMITS_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// What one sub-axis may do in an op.
struct SubAxisLimit {
  std::optional<llvm::SmallVector<Choice, 2>> only; // nullopt: anything
  llvm::SmallVector<Choice, 2> never;
  bool allows(const Choice &choice) const {
    return (!only || llvm::is_contained(*only, choice)) &&
           !llvm::is_contained(never, choice);
  }
};

struct OpLimit {
  llvm::SmallVector<SubAxisLimit> subAxes; // empty: no limit
  llvm::SmallVector<unsigned> from;        // places in Constraints::list
  bool allows(const Assignment &assignment) const;
};

/// A ShardingPattern for one value: per dimension its sub-axes, or nullopt.
struct ShardingLimit {
  llvm::SmallVector<std::optional<llvm::SmallVector<unsigned, 2>>> dims;
  llvm::SmallVector<Partial, 2> partial; // ordered by sub-axis
  unsigned from = 0;
  /// Whether `sharding`, its time sub-axes aside, is so.
  bool matches(const Sharding &sharding, const Mesh &mesh) const;
};

struct ValueLimit {
  llvm::SmallVector<ShardingLimit, 1> pins, forbids;
  bool empty() const { return pins.empty() && forbids.empty(); }
  bool allows(const Sharding &sharding, const Mesh &mesh) const;
  /// `sharding` with all that the pins say put in its place.
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

/// Limits of every op and value of a graph on one mesh. Empty lists: none.
struct Limits {
  const Constraints *constraints = nullptr;
  std::vector<OpLimit> ops;
  std::vector<ValueLimit> values;
  std::vector<StageLimit> stages; // per op
  /// Text that differs for ops whose own limits or those of their operands and
  /// results differ; "" without any.
  std::string markOf(const ModelGraph &graph, unsigned op) const;
};

/// No assignment of the op is left. The message says what it could do.
llvm::Error cannotMeet(const Limits &limits, const ModelGraph &graph,
                       unsigned op, const Mesh &mesh);
llvm::Error cannotShard(const Limits &limits, const GraphValue &value,
                        const ValueLimit &limit, const Mesh &mesh,
                        llvm::ArrayRef<Sharding> known);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_LIMITS_H
