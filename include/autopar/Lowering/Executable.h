//===- Executable.h - From the LLVM dialect to a program file ---*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_EXECUTABLE_H
#define AUTOPAR_LOWERING_EXECUTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace autopar {

namespace runtime {
class OutputFile;
}

/// The x86 features of this host that the code will use, as /proc/cpuinfo names
/// them; for the manifest.
std::vector<std::string> hostCpuFeatures();

using ProgramBytes = llvm::SmallVector<char, 0>;

/// Optimizes (O3) and compiles a module of the LLVM dialect for this host.
llvm::Expected<ProgramBytes> compileToObject(mlir::ModuleOp module);

/// What a program for a GPU exports as `aprt_program_device_code`, as an
/// object: target "cuda": a fatbin; "emulated": the kernels as host code.
/// The gpu.module of `module`, in NVVM form, is taken out of it.
llvm::Expected<ProgramBytes> compileDeviceCode(mlir::ModuleOp module,
                                               llvm::StringRef target);

/// Links objects into a shared object.
llvm::Expected<ProgramBytes>
linkSharedObject(llvm::ArrayRef<ProgramBytes> objects);

/// All of these: a lowered module as the shared object of a program.
llvm::Expected<ProgramBytes> compileProgram(mlir::ModuleOp module,
                                            llvm::StringRef target);

/// The prebuilt stub that programs are appended to: beside the running
/// compiler, or where `cmake --install` puts it.
llvm::Expected<std::string> findStub();

/// Where weights that the compiler wrote are: in the executable, or (offset 0)
/// in a file beside it.
struct MadeWeightsPlace {
  uint64_t offset = 0, size = 0;
  uint64_t content = 0; // hash
};

/// An executable file, piece by piece (docs/RuntimeABI.md): the stub; weights,
/// if there are any; a program per entry. It appears whole or not at all.
class ExecutableWriter {
public:
  ExecutableWriter();
  ~ExecutableWriter();
  /// Begins with the stub. Embedded weights may be written to file() then.
  llvm::Error open(llvm::StringRef path, llvm::StringRef stub);
  runtime::OutputFile &file() { return *out; }
  llvm::Error endWeights(const MadeWeightsPlace &place);
  llvm::Error addProgram(llvm::ArrayRef<char> program);
  llvm::Error finish();

private:
  llvm::Error append(llvm::ArrayRef<char> bytes);
  llvm::Error trailer(llvm::StringRef magic, uint64_t offset, uint64_t size,
                      uint64_t sum);

  std::unique_ptr<runtime::OutputFile> out;
};

/// An executable without weights of its own.
llvm::Error writeExecutable(llvm::StringRef path, llvm::StringRef stub,
                            llvm::ArrayRef<ProgramBytes> programs);

} // namespace autopar

#endif // AUTOPAR_LOWERING_EXECUTABLE_H
