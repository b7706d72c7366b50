//===- Pipelines.cpp - The order of the CPU lowering's passes -------------===//

#include "autopar/Dialect/Canonicalizer.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace autopar {

void buildLowerToCpuPipeline(OpPassManager &manager) {
  arith::ArithExpandOpsPassOptions expansion;
  expansion.includeBf16 = true; // few processors round to it
  manager.addPass(createLowerToCpu());
  manager.addPass(createShareKernels());
  // Duplicate index arithmetic goes before functions become polynomials.
  manager.addPass(createCanonicalizer());
  manager.addPass(createCSEPass());
  manager.addPass(createTransposeTiles());
  manager.addPass(createLimitUnrolling());
  manager.addPass(createKeepExtrema());
  manager.addPass(createApproximateMath());
  manager.addPass(createSCFToControlFlowPass());
  // What has an LLVM intrinsic first; the C library for the rest.
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(arith::createArithExpandOpsPass(expansion));
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass()); // declarations of libm
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
