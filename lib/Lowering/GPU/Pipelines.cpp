//===- Pipelines.cpp - The order of the GPU lowering's passes -------------===//

#include "KernelsToNvvm.h"
#include "autopar/Lowering/Passes.h"

using namespace mlir;

namespace autopar {

void buildLowerToGpuPipeline(OpPassManager &manager, StringRef sourceFolder) {
  LowerToGpuOptions options;
  options.sourceFolder = sourceFolder.str();
  manager.addPass(createLowerToGpu(options));
  buildKernelsToNvvmPipeline(manager);
}

} // namespace autopar
