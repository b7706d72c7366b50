//===- Passes.h - From scheduled IR to LLVM ---------------------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_PASSES_H
#define AUTOPAR_LOWERING_PASSES_H

#include "autopar/Lowering/Executable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Lowering/Passes.h.inc"

/// The model, if it is read already, and the executable's weights, which
/// several entries share.
std::unique_ptr<mlir::Pass> createPlaceWeights(PlaceWeightsOptions options,
                                               const OnnxModel *model,
                                               MadeWeights *made);
/// Receives the program, if it is set; nothing is written then.
std::unique_ptr<mlir::Pass>
createWriteExecutable(std::vector<ProgramBytes> *programs);

/// The passes from the IR after schedule to the LLVM dialect.
void buildLowerToCpuPipeline(mlir::OpPassManager &manager);
/// The passes to the LLVM dialect, with a gpu.module in NVVM form beside it.
/// With `sourceFolder` the program is also written there as CUDA C++.
void buildLowerToGpuPipeline(mlir::OpPassManager &manager,
                             llvm::StringRef sourceFolder = "");

/// Registers `--autopar-lower-to-cpu-pipeline` and
/// `--autopar-lower-to-gpu-pipeline`.
void registerLoweringPipelines();

} // namespace autopar

#endif // AUTOPAR_LOWERING_PASSES_H
