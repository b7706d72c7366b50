//===- StandIns.cpp - Until the kernels of grids are there ----------------===//

#include "CompileFatbin.h"
#include "CudaSource.h"
#include "GridKernels.h"

namespace autopar {

mlir::FailureOr<gpu::GridKernel> gpu::GridKernels::get(KernelOp kernel) {
  return kernel.emitOpError("has no grid yet");
}

mlir::LogicalResult
gpu::emitCudaSource(HostProgram &program, mlir::gpu::GPUModuleOp kernels,
                    llvm::ArrayRef<GridKernelRow> rows,
                    llvm::ArrayRef<std::string> stageFunctions,
                    llvm::StringRef manifest, llvm::StringRef folder) {
  return program.module.emitError("no CUDA source yet");
}

llvm::Expected<llvm::SmallVector<char, 0>>
compileFatbin(mlir::gpu::GPUModuleOp kernels) {
  return llvm::createStringError("no fatbin yet");
}

} // namespace autopar
