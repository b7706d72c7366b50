//===- KernelWork.h - What a kernel computes and moves ----------*- C++ -*-===//

#ifndef AUTOPAR_COST_KERNELWORK_H
#define AUTOPAR_COST_KERNELWORK_H

#include "autopar/Cost/Roofline.h"
#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Which peak an op's floating-point operations run at; `tf32`: where the
/// module allows it.
FlopsKind flopsKindOf(mlir::Operation *op, bool tf32);

/// One launch: the operations of the body, what its operands and outputs hold.
/// Of an operand that is only moved no more is read than is written of it.
KernelWork workOf(KernelOp kernel, bool tf32);

} // namespace autopar

#endif // AUTOPAR_COST_KERNELWORK_H
