//===- Pipeline.cpp - The order of Partition's passes ---------------------===//

#include "autopar/Equality/Passes.h"
#include "autopar/Partition/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace autopar {

void buildDecomposePipeline(OpPassManager &manager) {
  // Keeps the planned program before composites are decomposed: the checker
  // decomposes by itself.
  manager.addPass(createKeepGlobal());
  // Runs before reshards are inserted, because parts have shardings of their
  // own, between which reshards go.
  manager.addPass(createDecomposeComposites());
}

void buildSplitPipeline(OpPassManager &manager) {
  // Reshards before stages: what crosses stages is already sharded as it is
  // wanted.
  manager.addPass(createInsertReshards());
  // Runs before types are local, so that send and recv are localized like all
  // other ops.
  manager.addPass(createSplitStages());
  // Lowers the reshards, so after all that makes them.
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
  // Runs after the last pass that changes the local program, and removes the
  // copies.
  manager.addPass(createCheckEquality());
  // Runs last, to find what any pass has left.
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
