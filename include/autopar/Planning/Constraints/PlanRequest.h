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

/// A plan whose decisions are kept where they fit.
struct OldPlan {
  std::string file; // what messages call it
  Plan plan;
};

/// The options of `autopar compile` and `autopar plan` that shape a plan.
struct PlanRequest {
  Cluster cluster; // without nodes: as a plan file says
  llvm::SmallVector<StrategyName> strategies{StrategyName::Auto};
  /// Axes fixed by the user, `layer` among them; empty: searched.
  llvm::SmallVector<MeshAxis> mesh;
  /// Names of axes whose sizes are searched; empty: as `mesh` and `strategies`
  /// say.
  llvm::SmallVector<std::string> axes;
  int64_t microBatches = 0;           // 0: searched
  std::optional<Objective> objective; // nullopt: latency
  int64_t memoryLimit = 0; // bytes per device; 0: what the cluster's have
  /// Of the cluster, to use no more devices than the fastest step needs.
  bool fewestDevices = false;
  Constraints constraints;
  /// Null: none. Its decisions that fit are constraints too, weaker than the
  /// others (KeepDecisions.h).
  std::shared_ptr<const OldPlan> from;
  /// Null: none. What entries before this one store is a constraint, too.
  const StoredTensors *stored = nullptr;
  /// `--bind` and `--state`, which shaped the graph already: for the record, so
  /// that who is given the plan alone imports the same graph.
  std::map<std::string, std::string> bindings, states;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H
