//===- Pipeline.cpp - The passes of Schedule in order ---------------------===//

#include "autopar/Schedule/Passes.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace autopar {

void buildSchedulePipeline(OpPassManager &manager) {
  manager.addPass(createWidenReductions());
  manager.addPass(createFormKernels());
  manager.addPass(createOrderWork());
  manager.addPass(createAssignLayouts());
  manager.addPass(createAssignBuffers());
  manager.addPass(createAssignStreams());
  manager.addPass(createVerifySchedule());
}

void registerSchedulePipeline() {
  PassPipelineRegistration<>("autopar-schedule-pipeline",
                             "kernels, order, buffers, streams, verified",
                             buildSchedulePipeline);
}

} // namespace autopar
