//===- GemmLayouts.h - How a GEMM reads its operands ------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_GEMMLAYOUTS_H
#define AUTOPAR_DIALECT_GEMMLAYOUTS_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Layout.h"

namespace autopar {

/// The layouts that the inputs of `kernel`, a GEMM, had better have. A library
/// reads matrices by strides: images stay as they are where that is the same
/// GEMM, and those that kernels transpose are read where they were, which
/// changes the kernel's operands and body. All else is row-major.
llvm::SmallVector<Layout>
readImages(KernelOp kernel, llvm::function_ref<Layout(mlir::Value)> layoutOf);

/// Whether `op` is a kernel that does no more than transpose its operand.
bool isTransposing(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_DIALECT_GEMMLAYOUTS_H
