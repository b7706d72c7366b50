//===- WritePlan.h - From a plan to attributes ------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_WRITEPLAN_H
#define AUTOPAR_PLANNING_WRITEPLAN_H

#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Writes the mesh, the shardings, strategies and stages of a verified plan,
/// and the steps of its reshards, on the module that `graph` was read from.
/// They replace those of an earlier plan.
void writePlan(mlir::ModuleOp module, const ModelGraph &graph,
               const Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_WRITEPLAN_H
