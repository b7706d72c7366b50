//===- HostCode.h - LLVM IR to code for a CPU -------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_HOSTCODE_H
#define AUTOPAR_LIB_LOWERING_COMMON_HOSTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace autopar {

/// A machine with these features of cpuFeatures() and no others, so that the
/// same list makes the same code on every host.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(llvm::ArrayRef<std::string> cpuFeatures);

/// The features that phase lower chose for the module's CPU; for a module that
/// it has not seen, those of this host.
std::vector<std::string> cpuFeaturesOf(mlir::ModuleOp module);

/// Gives `module` the machine's triple and layout, its functions the machine's
/// features, and it what the machine rounds to bf16 with.
void retarget(llvm::Module &module, const llvm::TargetMachine &machine);

/// The functions that x86 code calls to convert halves, where the machine has
/// no instruction for that.
void defineConversions(llvm::Module &module,
                       const llvm::TargetMachine &machine);

enum class Vectorize { No, Yes };
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::OptimizationLevel level, Vectorize vectorize);

llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_HOSTCODE_H
