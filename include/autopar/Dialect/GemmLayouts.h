//===- GemmLayouts.h - How a GEMM reads its operands ------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_GEMMLAYOUTS_H
#define AUTOPAR_DIALECT_GEMMLAYOUTS_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// Returns whether `op` is a kernel that only transposes its operand, from
/// before which a GEMM can read it (EinsumOp::chooseInputLayouts).
bool isTransposing(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_DIALECT_GEMMLAYOUTS_H
