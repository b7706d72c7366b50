//===- KernelsToNvvm.h - The passes for kernels of a GPU --------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_KERNELSTONVVM_H
#define AUTOPAR_LIB_LOWERING_GPU_KERNELSTONVVM_H

#include "mlir/Pass/PassManager.h"

namespace autopar {

/// Takes the gpu.modules of a module from scf, arith, math and gpu ops to the
/// LLVM and NVVM dialects; leaves what is outside of them alone.
void buildKernelsToNvvmPipeline(mlir::OpPassManager &manager);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_GPU_KERNELSTONVVM_H
