//===- CudaSource.h - A GPU program as CUDA C++ -----------------*- C++ -*-===//
//
// `--emit cuda-source DIR` writes the generated program as text that people can
// read and adapt: kernels and host program as CUDA and C++ of the same meaning,
// and a CMakeLists.txt that builds them with nvcc, or for the emulated device
// with a host compiler.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_CUDASOURCE_H
#define AUTOPAR_LIB_LOWERING_GPU_CUDASOURCE_H

#include "../Common/HostProgram.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/raw_ostream.h"

namespace autopar::gpu {

/// Describes a kernel: the ops of its body with their ONNX nodes and shapes,
/// one per line.
std::string descriptionOf(KernelOp kernel);

/// Writes kernels.cu, program.cpp, manifest.json, data.cpp, emulated.cpp,
/// CMakeLists.txt and README.md into `folder`, which is made if it is not
/// there. `kernels` is what GridKernels made, before it becomes NVVM, or null;
/// `rows` its rows in the manifest; `functions` are the names of setup and step
/// of each stage.
mlir::LogicalResult emitCudaSource(HostProgram &program,
                                   mlir::gpu::GPUModuleOp kernels,
                                   llvm::ArrayRef<ProgramKernel> rows,
                                   llvm::ArrayRef<std::string> functions,
                                   llvm::StringRef manifest,
                                   llvm::StringRef folder);

/// The text of kernels.cu; an error at an op that has no text. `kernels` may be
/// null.
mlir::LogicalResult printKernels(mlir::gpu::GPUModuleOp kernels,
                                 llvm::ArrayRef<ProgramKernel> rows,
                                 llvm::raw_ostream &os);
/// The text of program.cpp.
void printHostProgram(HostProgram &program,
                      llvm::ArrayRef<std::string> functions,
                      llvm::StringRef manifest, llvm::raw_ostream &os);
/// The text of emulated.cpp: the table of kernels for the emulated device.
void printEmulatedTable(mlir::gpu::GPUModuleOp kernels,
                        llvm::ArrayRef<ProgramKernel> rows,
                        llvm::raw_ostream &os);

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_CUDASOURCE_H
