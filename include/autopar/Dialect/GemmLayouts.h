//===- GemmLayouts.h - How a GEMM reads its operands ------------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_GEMMLAYOUTS_H
#define AUTOPAR_DIALECT_GEMMLAYOUTS_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Layout.h"

namespace autopar {

/// The layouts in which `kernel`, a GEMM, had best read its inputs. The library
/// reads matrices by strides. So images stay as they are stored if that is the
/// same GEMM, and images that a kernel only transposes are read from where they
/// were before, for which this function changes the operands and the body of
/// `kernel`. All other inputs are row-major.
llvm::SmallVector<Layout>
readImages(KernelOp kernel, llvm::function_ref<Layout(mlir::Value)> layoutOf);

/// Returns whether `op` is a kernel that only transposes its operand.
bool isTransposing(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_DIALECT_GEMMLAYOUTS_H
