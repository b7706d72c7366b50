//===- Search.h - The best plan for what was asked ------------------------===//

#ifndef AUTOPAR_PLANNING_SEARCH_H
#define AUTOPAR_PLANNING_SEARCH_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Planning/Constraints.h"
#include "autopar/Planning/Demands.h"
#include "autopar/Planning/Plan.h"
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
  /// others (Planning/KeepDecisions.h).
  std::shared_ptr<const OldPlan> from;
  /// Null: none. What entries before this one store is a constraint, too.
  const StoredTensors *stored = nullptr;
  /// `--bind` and `--state`, which shaped the graph already: for the record, so
  /// that who is given the plan alone imports the same graph.
  std::map<std::string, std::string> bindings, states;
};

/// The axis of a mesh, as users write it, that counts pipeline stages.
inline constexpr llvm::StringLiteral kStageAxis = "layer";

/// `data=2,tensor=2`
llvm::Expected<llvm::SmallVector<MeshAxis>> parseMesh(llvm::StringRef text);

/// A mesh that the search tried: what its plan takes, or why it has none.
struct SearchTrial {
  std::string name; // `x=4, y=2, 3 stages`
  double seconds = 0, lowerBoundSeconds = 0;
  int64_t peakMemoryBytes = 0;
  bool best = false;     // of all so far
  std::string complaint; // empty: there is a plan
};
/// `x=4: 12.1 us, at least 11.0 us, 1.0 MiB a device, best so far`
std::string toString(const SearchTrial &trial);

/// The mesh that the plan chose, as a user writes it: names of strategies match
/// axes by position.
llvm::SmallVector<MeshAxis>
writtenMesh(const Plan &plan, llvm::ArrayRef<StrategyName> strategies);

/// Tries the meshes that the request allows and returns the plan that predicts
/// the least seconds of what the objective says; verified. `trace` gets lines
/// for each trial; `tried` gets the trials in their order.
llvm::Expected<Plan> searchPlan(const ModelGraph &graph,
                                const PlanRequest &request,
                                llvm::raw_ostream *trace = nullptr,
                                std::vector<SearchTrial> *tried = nullptr);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_H
