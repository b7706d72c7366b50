//===- HostCode.h - LLVM IR to code for this host ---------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_HOSTCODE_H
#define AUTOPAR_LIB_LOWERING_COMMON_HOSTCODE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace autopar {

/// A machine with the features of hostCpuFeatures() and no others, so that the
/// same list makes the same code on every host.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createHostMachine();

/// Gives `module` the machine's triple and layout, its functions the machine's
/// features, and it what the machine rounds to bf16 with.
void retarget(llvm::Module &module, const llvm::TargetMachine &machine);

/// Runs the passes that `build` makes, with the analyses that they ask for.
void runPasses(
    llvm::Module &module, llvm::TargetMachine &machine,
    const llvm::PipelineTuningOptions &tuning,
    llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build);

/// Of loops that call nothing: what `-O3` makes of them, in half the time.
void optimizeKernels(llvm::Module &module, llvm::TargetMachine &machine);

enum class Vectorize { No, Yes };
/// Any code, by LLVM's pipeline of the level.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::OptimizationLevel level, Vectorize vectorize);

llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_HOSTCODE_H
