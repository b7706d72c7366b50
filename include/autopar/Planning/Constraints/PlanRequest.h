//===- PlanRequest.h - What a user asks of a plan -------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H
#define AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Plan/Plan.h"
#include <map>
#include <memory>

namespace autopar {

class StoredTensors;

/// A plan whose decisions are kept as far as they fit.
struct OldPlan {
  std::string file; // the name for messages
  Plan plan;
};

/// The options of `autopar compile` and `autopar plan` that shape a plan.
struct PlanRequest {
  Cluster cluster; // without nodes: that of the plan file
  llvm::SmallVector<StrategyName> strategies{StrategyName::Auto};
  /// The axes that the user fixed, `layer` among them. If it is empty, the
  /// search chooses them.
  llvm::SmallVector<MeshAxis> mesh;
  /// The names of axes whose sizes the search chooses. If it is empty, `mesh`
  /// and `strategies` decide the names.
  llvm::SmallVector<std::string> axes;
  int64_t microBatches = 0;           // 0: searched
  std::optional<Objective> objective; // nullopt: latency
  /// Bytes per device; 0: the memory of the cluster's devices.
  int64_t memoryLimit = 0;
  /// Use no more devices of the cluster than the fastest step needs.
  bool fewestDevices = false;
  Constraints constraints;
  /// The old plan, or null. Those of its decisions that fit are constraints,
  /// too; they yield to all others (KeepDecisions.h).
  std::shared_ptr<const OldPlan> from;
  /// The tensors that entries before this one store, or null. They are a
  /// constraint, too.
  const StoredTensors *stored = nullptr;
  /// The options `--bind` and `--state`, by which the graph is already shaped.
  /// A plan records them so that the same graph can be imported from the plan
  /// alone.
  std::map<std::string, std::string> bindings, states;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H
