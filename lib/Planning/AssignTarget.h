//===- AssignTarget.h - The kind of device code is made for -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_ASSIGNTARGET_H
#define AUTOPAR_LIB_PLANNING_ASSIGNTARGET_H

#include "autopar/Cluster/Cluster.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Sets `autopar.target` to the kind of the cluster's devices. Emits an error
/// at the module if another kind was asked for. An emulated GPU counts as a
/// GPU.
mlir::LogicalResult assignTarget(mlir::ModuleOp module, const Cluster &cluster);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_ASSIGNTARGET_H
