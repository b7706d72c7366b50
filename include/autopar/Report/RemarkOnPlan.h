//===- RemarkOnPlan.h - A plan's decisions as remarks ---------------------===//

#ifndef AUTOPAR_REPORT_REMARKONPLAN_H
#define AUTOPAR_REPORT_REMARKONPLAN_H

#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// A remark for each decision of a verified plan of the module that `graph` was
/// read from: the mesh; each stage, at its first op; what ops do, and each
/// reshard with its reason, at the first of those that are alike.
void remarkOnPlan(mlir::ModuleOp module, const ModelGraph &graph,
                  const Plan &plan);

} // namespace autopar

#endif // AUTOPAR_REPORT_REMARKONPLAN_H
