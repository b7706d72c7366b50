//===- Executable.h - From the LLVM dialect to a program file ---*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_EXECUTABLE_H
#define AUTOPAR_LOWERING_EXECUTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace autopar {

class MadeWeights;
class OnnxModel;

/// The x86 features of this host that the code will use, as /proc/cpuinfo names
/// them; for the manifest.
std::vector<std::string> hostCpuFeatures();

using ProgramBytes = llvm::SmallVector<char, 0>;

/// Optimizes (O3) and compiles a module of the LLVM dialect for this host: in
/// objects, on all cores, where it has many kernels.
llvm::Expected<std::vector<ProgramBytes>>
compileToObjects(mlir::ModuleOp module);

/// What a program for a GPU exports as `aprt_program_device_code`, as an
/// object: target "cuda": a fatbin; "emulated": the kernels as host code.
/// The gpu.module of `module`, in NVVM form, is taken out of it.
llvm::Expected<ProgramBytes> compileDeviceCode(mlir::ModuleOp module,
                                               llvm::StringRef target);

/// The calls of the runtime through the table that a loaded program is given,
/// as an object.
llvm::Expected<ProgramBytes>
compileRuntimeCalls(llvm::ArrayRef<std::string> cpuFeatures);

/// Links objects into a shared object.
llvm::Expected<ProgramBytes>
linkSharedObject(llvm::ArrayRef<ProgramBytes> objects);

/// All of these: a lowered module as the shared object of a program.
llvm::Expected<ProgramBytes> compileProgram(mlir::ModuleOp module,
                                            llvm::StringRef target);

/// The prebuilt stub that programs are appended to: beside the running
/// compiler, or where `cmake --install` puts it.
llvm::Expected<std::string> findStub();

/// An executable file (docs/RuntimeABI.md): the stub; the weights of `made`,
/// unless they go into a file beside it; a program per entry. Files appear
/// whole or not at all. `model` has the bytes of the weights; it may be null if
/// there are none.
llvm::Error writeExecutable(llvm::StringRef path,
                            llvm::ArrayRef<ProgramBytes> programs,
                            const MadeWeights &made, const OnnxModel *model);

} // namespace autopar

#endif // AUTOPAR_LOWERING_EXECUTABLE_H
