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

/// The x86 features of this host that the code will use, for the manifest.
/// Their names are those of /proc/cpuinfo.
std::vector<std::string> hostCpuFeatures();

using ProgramBytes = llvm::SmallVector<char, 0>;

/// Optimizes (O3) and compiles a module of the LLVM dialect for this host. A
/// module with many kernels becomes several objects, which are compiled on all
/// cores.
llvm::Expected<std::vector<ProgramBytes>>
compileToObjects(mlir::ModuleOp module);

/// An object with what a program for a GPU exports as
/// `aprt_program_device_code`: a fatbin for the target "cuda", the kernels as
/// host code for "emulated". The gpu.module of `module`, in NVVM form, is taken
/// out of it.
llvm::Expected<ProgramBytes> compileDeviceCode(mlir::ModuleOp module,
                                               llvm::StringRef target);

/// An object with the runtime's functions, each a call through the table that a
/// loaded program is given.
llvm::Expected<ProgramBytes>
compileRuntimeCalls(llvm::ArrayRef<std::string> cpuFeatures);

/// Links objects into a shared object.
llvm::Expected<ProgramBytes>
linkSharedObject(llvm::ArrayRef<ProgramBytes> objects);

/// Does all of the above: makes the shared object of a program from a lowered
/// module.
llvm::Expected<ProgramBytes> compileProgram(mlir::ModuleOp module,
                                            llvm::StringRef target);

/// The path of the prebuilt stub to which programs are appended. It is beside
/// the running compiler, or where `cmake --install` puts it.
llvm::Expected<std::string> findStub();

/// Writes an executable file (docs/RuntimeABI.md): the stub, the weights of
/// `made` unless they go into a file beside it, and a program per entry. Files
/// appear whole or not at all. `model` has the bytes of the weights; it may be
/// null if there are none.
llvm::Error writeExecutable(llvm::StringRef path,
                            llvm::ArrayRef<ProgramBytes> programs,
                            const MadeWeights &made, const OnnxModel *model);

} // namespace autopar

#endif // AUTOPAR_LOWERING_EXECUTABLE_H
