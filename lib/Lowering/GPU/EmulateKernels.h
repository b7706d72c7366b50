//===- EmulateKernels.h - GPU kernels as host code --------------*- C++ -*-===//
//
// The kernels of `--target emulated`: the NVVM form that PTX is made of too,
// taken to this host. A kernel becomes a function of its own arguments and of
// the apemu_thread that runs it; what was an intrinsic is a call of the
// emulator (autopar/emulated.h).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_EMULATEKERNELS_H
#define AUTOPAR_LIB_LOWERING_GPU_EMULATEKERNELS_H

#include "../Common/HostProgram.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace autopar::gpu {

/// A module of LLVM IR for `machine` that exports an apemu_module of `kernels`
/// as `aprt_program_device_code`, and as what stands for their PTX.
llvm::Expected<std::unique_ptr<llvm::Module>>
emulateKernels(mlir::gpu::GPUModuleOp kernels, llvm::LLVMContext &context,
               llvm::TargetMachine &machine);

/// Does the same from the translated module, whose kernels `rows` describes.
llvm::Error emulateKernels(llvm::Module &module,
                           llvm::ArrayRef<ProgramKernel> rows,
                           llvm::TargetMachine &machine);

/// Replaces the special registers, barriers, shuffles and functions of
/// libdevice that `kernel` uses; `thread` points to its apemu_thread. An error
/// for what the emulator does not have.
llvm::Error bindIntrinsics(llvm::Function &kernel, llvm::Value *thread);

/// Puts a call of apemu_global or apemu_shared before each access of memory
/// that other threads see. Arguments of `kernel` are known by their numbers.
llvm::Error announceAccesses(llvm::Function &kernel, llvm::Value *thread);

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_EMULATEKERNELS_H
