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

/// What the mesh's axes have to do, and within what memory.
struct PlanQuestion {
  const ModelGraph &graph;
  const Cluster &cluster;
  Mesh mesh;
  const OpDemands &demands;
  int64_t memoryLimit = 0; // bytes per device; 0: none
  Limits limits;           // what the user's constraints leave
  /// In seconds of the problem, without what is deferred: solutions that take
  /// as much are of no interest.
  double cutoff = kIllegal;
  /// The cluster is shared by its stages; it is open in which of them an op
  /// will be: it costs what it does where it costs the least.
  Pipeline pipeline = {};
  /// What it shares with other questions about the graph; null: nothing.
  std::shared_ptr<SharedWork> shared = nullptr;
};

/// A problem whose nodes are op classes (choices: assignments) and value
/// classes (choices: how the value is sharded for its users).
class PlanProblem {
public:
  /// An error where some op has no legal assignment; NothingCheaper, in the
  /// problem's seconds, where all reach the cutoff.
  static llvm::Expected<std::unique_ptr<PlanProblem>>
  build(const PlanQuestion &question);
  virtual ~PlanProblem() = default;

  Problem problem;
  /// Fills strategies and shardings of a plan; of one that has those of choice
  /// `before`, the ones that differ.
  virtual void writeDecisions(llvm::ArrayRef<unsigned> choice, Plan &plan,
                              llvm::ArrayRef<unsigned> before = {}) const = 0;
  /// And predictions.
  virtual void writePlan(const Solution &solution, Plan &plan) const = 0;
  /// Per kind of place of stages (StagePlaces) the seconds of each op, the
  /// reshards at it included, for one micro-batch.
  virtual std::vector<std::vector<double>>
  opSeconds(llvm::ArrayRef<unsigned> choice) const = 0;
  /// What stages cost at least, all micro-batches together, in the order of the
  /// program. From `limit` on seconds are of no interest.
  virtual StageBoundCosts stageBoundCosts(double limit) const = 0;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_BUILDPROBLEM_H
