//===- Pipelines.cpp - The order of the CPU lowering's passes -------------===//

#include "autopar/Dialect/Canonicalizer.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace autopar {

void buildLowerToCpuPipeline(OpPassManager &manager) {
  manager.addPass(createLowerToCpu());
  manager.addPass(createShareKernels());
  // Functions at the same time.
  OpPassManager &functions = manager.nest<LLVM::LLVMFuncOp>();
  // Duplicate index arithmetic goes before functions become polynomials.
  functions.addPass(createCanonicalizer());
  functions.addPass(createCSEPass());
  manager.addPass(createTransposeTiles());
  manager.addPass(createLimitUnrolling());
  manager.addPass(createKeepExtrema());
  manager.addPass(createApproximateMath());
  manager.addPass(createSCFToControlFlowPass());
  // Math with an LLVM intrinsic is converted first; the C library takes the
  // rest.
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertToLlvm());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void registerLoweringPipelines() {
  PassPipelineRegistration<>("autopar-lower-to-cpu-pipeline",
                             "from the IR after schedule to the LLVM dialect",
                             buildLowerToCpuPipeline);
  PassPipelineRegistration<>(
      "autopar-lower-to-gpu-pipeline",
      "from the IR after schedule to the LLVM dialect and NVVM kernels",
      [](OpPassManager &manager) { buildLowerToGpuPipeline(manager); });
}

} // namespace autopar
