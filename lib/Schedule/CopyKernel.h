//===- CopyKernel.h - Kernels that Schedule adds ----------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_SCHEDULE_COPYKERNEL_H
#define AUTOPAR_LIB_SCHEDULE_COPYKERNEL_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Creates a kernel of loops with results of these types and an empty body.
KernelOp createKernel(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::TypeRange results, mlir::ValueRange inputs);

/// Creates a kernel that copies `value` to memory of its own.
KernelOp createCopy(mlir::OpBuilder &builder, mlir::Value value);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_COPYKERNEL_H
