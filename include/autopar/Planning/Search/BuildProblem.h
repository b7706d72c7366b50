//===- BuildProblem.h - From a graph and a mesh to a problem --------------===//

#ifndef AUTOPAR_PLANNING_SEARCH_BUILDPROBLEM_H
#define AUTOPAR_PLANNING_SEARCH_BUILDPROBLEM_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Solver/Solver.h"

namespace autopar {

class SharedWork;
struct StageBoundCosts;

/// A question to the solver: what ops must do along the axes of a mesh, and the
/// memory that the plan may take.
struct PlanQuestion {
  const ModelGraph &graph;
  const Cluster &cluster;
  Mesh mesh;
  const OpDemands &demands;
  int64_t memoryLimit = 0; // bytes per device; 0: none
  Limits limits;           // from the constraints of the user
  /// Solutions that take at least this time are of no interest. In seconds of
  /// the problem, without deferred decisions.
  double cutoff = kIllegal;
  /// The stages share the cluster. The stage of an op is open in the problem,
  /// so an op costs what it costs at the cheapest place.
  Pipeline pipeline = {};
  /// Results that this question shares with others about the same graph, or
  /// null.
  std::shared_ptr<SharedWork> shared = nullptr;
};

/// A problem whose nodes are classes of ops (choices: assignments) and classes
/// of values (choices: the sharding that the users of the value read).
class PlanProblem {
public:
  /// Returns an error if some op has no legal assignment, and NothingCheaper
  /// (in seconds of the problem) if all solutions reach the cutoff.
  static llvm::Expected<std::unique_ptr<PlanProblem>>
  build(const PlanQuestion &question);
  virtual ~PlanProblem() = default;

  Problem problem;
  /// Writes the strategies and shardings of a choice to `plan`. If the plan has
  /// those of choice `before`, only the different ones are written.
  virtual void writeDecisions(llvm::ArrayRef<unsigned> choice, Plan &plan,
                              llvm::ArrayRef<unsigned> before = {}) const = 0;
  /// Writes decisions and predictions to `plan`.
  virtual void writePlan(const Solution &solution, Plan &plan) const = 0;
  /// Returns the seconds of each op in one micro-batch, with its reshards, for
  /// each kind of place of the stages (StagePlaces).
  virtual std::vector<std::vector<double>>
  opSeconds(llvm::ArrayRef<unsigned> choice) const = 0;
  /// Returns the costs, in program order, from which the least seconds of
  /// stages follow, for all micro-batches together. Costs are cut off at
  /// `limit` seconds.
  virtual StageBoundCosts stageBoundCosts(double limit) const = 0;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_BUILDPROBLEM_H
