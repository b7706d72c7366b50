//===- ScheduledWork.h - The work list of a function of kernels -*- C++ -*-===//

#ifndef AUTOPAR_LIB_SCHEDULE_SCHEDULEDWORK_H
#define AUTOPAR_LIB_SCHEDULE_SCHEDULEDWORK_H

#include "autopar/Cost/WorkOfFunction.h"

namespace autopar {

/// A function of kernels and communication, on tensors, as plain data.
struct ScheduledWork {
  FunctionWork work;
  llvm::SmallVector<mlir::Operation *> ops; // the op of each item
  llvm::SmallVector<mlir::Operation *> views;
};
ScheduledWork workOf(mlir::func::FuncOp func);

/// Every op of `func` is a kernel, communication, a reshape or the return.
mlir::LogicalResult checkKernelsFormed(mlir::func::FuncOp func);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_SCHEDULEDWORK_H
