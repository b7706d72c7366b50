//===- KernelTable.h - The rows of a module's kernels -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_KERNELTABLE_H
#define AUTOPAR_LIB_LOWERING_GPU_KERNELTABLE_H

#include "../Common/HostProgram.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace autopar::gpu {

/// Stores the manifest's rows on the gpu.module of its kernels, in order, as
/// attribute `autopar.kernels`. Later passes read them there.
void setKernelTable(mlir::gpu::GPUModuleOp module,
                    llvm::ArrayRef<ProgramKernel> rows);
std::vector<ProgramKernel> kernelTable(mlir::gpu::GPUModuleOp module);

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_KERNELTABLE_H
