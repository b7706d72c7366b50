//===- WritePlan.h - From a plan to attributes, and back to its cluster ---===//

#ifndef AUTOPAR_PLANNING_WRITEPLAN_H
#define AUTOPAR_PLANNING_WRITEPLAN_H

#include "autopar/Cost/Reshard.h"
#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Writes the mesh and the shardings, strategies and stages of a verified plan
/// on the module that `graph` was read from. What an earlier plan wrote is
/// replaced.
void writePlan(mlir::ModuleOp module, const ModelGraph &graph,
               const Plan &plan);

/// The cluster of the module's plan; CPU ranks where it has none.
mlir::FailureOr<Cluster> plannedCluster(mlir::ModuleOp module,
                                        int64_t deviceCount);

/// Bytes that a device of a stage may hold by the module's plan: what was asked
/// for, or what it has; 0: no limit.
mlir::FailureOr<int64_t> plannedMemoryLimit(mlir::ModuleOp module,
                                            int64_t stage);

/// Whether steps overlap in the module's plan.
bool stepsOverlap(mlir::ModuleOp module);

/// What reshards cost in the module's plan: with it reshardPath gives the steps
/// that Planning priced.
mlir::FailureOr<ReshardCost> plannedReshardCost(mlir::ModuleOp module,
                                                const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_WRITEPLAN_H
