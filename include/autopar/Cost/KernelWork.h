//===- KernelWork.h - What a kernel computes and moves ----------*- C++ -*-===//

#ifndef AUTOPAR_COST_KERNELWORK_H
#define AUTOPAR_COST_KERNELWORK_H

#include "autopar/Cost/Roofline.h"
#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// The peak at which an op's floating-point operations run. `tf32` says that
/// the module allows tf32.
FlopsKind flopsKindOf(mlir::Operation *op, bool tf32);

/// The work of one launch: the operations of the body, and the bytes of its
/// operands and outputs. If the body only moves elements of an operand, no more
/// bytes of it count than are written.
KernelWork workOf(KernelOp kernel, bool tf32);

} // namespace autopar

#endif // AUTOPAR_COST_KERNELWORK_H
