//===- Pipeline.cpp - The order of Partition's passes ---------------------===//

#include "autopar/Equality/Passes.h"
#include "autopar/Partition/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace autopar {

void buildDecomposePipeline(OpPassManager &manager) {
  // The planned program as it is: the checker decomposes by itself.
  manager.addPass(createKeepGlobal());
  manager.addPass(createDecomposeComposites());
}

void buildSplitPipeline(OpPassManager &manager) {
  // Reshards before stages: what crosses stages is already sharded as it is
  // wanted.
  manager.addPass(createInsertReshards());
  manager.addPass(createSplitStages());
  manager.addPass(createPartition());
  // Equal masks, slices and offsets of several users become one. Nothing folds:
  // the checker knows each op by its origin.
  manager.addPass(createCSEPass());
}

void buildLocalizePipeline(OpPassManager &manager) {
  buildDecomposePipeline(manager);
  buildSplitPipeline(manager);
}

void buildPartitionPipeline(OpPassManager &manager) {
  buildLocalizePipeline(manager);
  manager.addPass(createCheckEquality());
  manager.addPass(createVerifyPartition());
}

void registerPartitionPipelines() {
  PassPipelineRegistration<>("autopar-localize-pipeline",
                             "from plan to local IR that is not yet checked",
                             buildLocalizePipeline);
  PassPipelineRegistration<>("autopar-partition-pipeline",
                             "from plan to checked local IR",
                             buildPartitionPipeline);
}

} // namespace autopar
