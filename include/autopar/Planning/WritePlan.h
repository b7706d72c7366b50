//===- WritePlan.h - From a plan to attributes, and back to its cluster ---===//

#ifndef AUTOPAR_PLANNING_WRITEPLAN_H
#define AUTOPAR_PLANNING_WRITEPLAN_H

#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Writes the mesh and the shardings, strategies and stages of a verified plan
/// on the module that `graph` was read from. They replace those of an earlier
/// plan.
void writePlan(mlir::ModuleOp module, const ModelGraph &graph,
               const Plan &plan);

/// Returns the cluster of the module's plan, or a cluster of CPU ranks if the
/// plan has none.
mlir::FailureOr<Cluster> plannedCluster(mlir::ModuleOp module,
                                        int64_t deviceCount);

/// Returns whether steps overlap in the module's plan.
bool stepsOverlap(mlir::ModuleOp module);

/// Returns the prices of reshards in the module's plan. Given these,
/// reshardPath returns the steps that Planning priced.
mlir::FailureOr<ReshardCost> plannedReshardCost(mlir::ModuleOp module,
                                                const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_WRITEPLAN_H
