//===- Pipeline.cpp - The passes of Schedule in order ---------------------===//

#include "autopar/Schedule/Passes.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace autopar {

void buildSchedulePipeline(OpPassManager &manager) {
  // Runs before kernels are formed, so that its converts become part of them.
  manager.addPass(createWidenReductions());
  // Runs before kernels are formed, too, so that padding joins the kernel that
  // makes or reads the value.
  manager.addPass(createAlignOperands());
  // The passes below order and place kernels and communication.
  manager.addPass(createFormKernels());
  // Runs before buffers are assigned, which live as long as this order says.
  manager.addPass(createOrderWork());
  // Adds copies, which need buffers too; buffers' strides are the layouts.
  manager.addPass(createAssignLayouts());
  manager.addPass(createAssignBuffers());
  // Runs before streams are assigned, so that these wait only for the bytes
  // that they touch.
  manager.addPass(createNarrowSlices());
  // Runs after the passes that make other reads of constants.
  manager.addPass(createPackWeights());
  // Two streams wait for each other where they touch the same bytes.
  manager.addPass(createAssignStreams());
  // Runs after all passes that move work or memory.
  manager.addPass(createVerifySchedule());
}

void registerSchedulePipeline() {
  PassPipelineRegistration<>("autopar-schedule-pipeline",
                             "kernels, order, buffers, streams, verified",
                             buildSchedulePipeline);
}

} // namespace autopar
