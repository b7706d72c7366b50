//===- Pipeline.cpp - The passes of Schedule in order ---------------------===//

#include "autopar/Schedule/Passes.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace autopar {

void buildSchedulePipeline(OpPassManager &manager) {
  // Before kernels: its converts become part of them.
  manager.addPass(createWidenReductions());
  // Before kernels too: padding joins what makes or reads a value.
  manager.addPass(createAlignOperands());
  // What is ordered and placed from here on: kernels and communication.
  manager.addPass(createFormKernels());
  // Before buffers, which live as long as this order says.
  manager.addPass(createOrderWork());
  // Adds copies, which need buffers too; buffers' strides are the layouts.
  manager.addPass(createAssignLayouts());
  manager.addPass(createAssignBuffers());
  // Before streams, which wait for what they touch alone.
  manager.addPass(createNarrowSlices());
  // After what makes other reads of constants.
  manager.addPass(createPackWeights());
  // Two streams wait for each other where they touch the same bytes.
  manager.addPass(createAssignStreams());
  // After all that moves work or memory.
  manager.addPass(createVerifySchedule());
}

void registerSchedulePipeline() {
  PassPipelineRegistration<>("autopar-schedule-pipeline",
                             "kernels, order, buffers, streams, verified",
                             buildSchedulePipeline);
}

} // namespace autopar
