//===- RemarkOnPlan.h - A plan's decisions as remarks ---------------------===//

#ifndef AUTOPAR_REPORT_REMARKONPLAN_H
#define AUTOPAR_REPORT_REMARKONPLAN_H

#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Emits a remark for each decision of a verified plan of the module that
/// `graph` was read from. The remarks are about the mesh, each stage at its
/// first op, the strategies of ops, and each reshard with its reason. Ops or
/// reshards that are alike get one remark at the first.
void remarkOnPlan(mlir::ModuleOp module, const ModelGraph &graph,
                  const Plan &plan);

} // namespace autopar

#endif // AUTOPAR_REPORT_REMARKONPLAN_H
