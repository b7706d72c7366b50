//===- KernelsToNvvm.cpp - The passes for kernels of a GPU ----------------===//

#include "KernelsToNvvm.h"
#include "autopar/Dialect/Canonicalizer.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace autopar {

void buildKernelsToNvvmPipeline(OpPassManager &manager) {
  OpPassManager &kernels = manager.nest<mlir::gpu::GPUModuleOp>();
  kernels.addPass(createCanonicalizer());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  // Functions of math become calls of libdevice, what is left intrinsics.
  ConvertGpuOpsToNVVMOpsOptions options;
  options.indexBitwidth = 64;
  kernels.addPass(createConvertGpuOpsToNVVMOps(options));
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  OpPassManager &converted = manager.nest<mlir::gpu::GPUModuleOp>();
  converted.addPass(createReconcileUnrealizedCastsPass());
  converted.addPass(createCanonicalizerPass());
  converted.addPass(createCSEPass());
}

} // namespace autopar
