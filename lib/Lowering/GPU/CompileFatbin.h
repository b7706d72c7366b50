//===- CompileFatbin.h - Kernels to code for NVIDIA GPUs --------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_COMPILEFATBIN_H
#define AUTOPAR_LIB_LOWERING_GPU_COMPILEFATBIN_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>

namespace autopar {

/// The PTX of kernels in NVVM form for one architecture, such as "sm_90":
/// libdevice linked in, optimized (O3).
llvm::Expected<std::string> compileToPtx(mlir::gpu::GPUModuleOp kernels,
                                         llvm::StringRef arch);

/// The kernels of a program for NVIDIA GPUs.
struct DeviceImages {
  llvm::SmallVector<char, 0> code; // the code that the driver gets first
  /// The code for a driver that refuses the first one: PTX of the oldest
  /// architecture, zero-ended and not compressed. It is empty if `code` is that
  /// already.
  llvm::SmallVector<char, 0> ptx;
};

/// A fatbin with a cubin for each of sm_80, sm_90 and sm_100 that ptxas knows
/// (a remark names it if it does not know all), and PTX for later GPUs. Without
/// ptxas and fatbinary the PTX of sm_80 alone (zero-ended), which the driver
/// compiles for any of them at load; a remark says so.
llvm::Expected<DeviceImages> compileFatbin(mlir::gpu::GPUModuleOp kernels);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_GPU_COMPILEFATBIN_H
