//===- Passes.h - From the plan to what each device runs --------*- C++ -*-===//

#ifndef AUTOPAR_PARTITION_PASSES_H
#define AUTOPAR_PARTITION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Partition/Passes.h.inc"

/// The two halves of the pipeline below. The first keeps the planned program
/// and writes composites as their parts, on global types; the second makes
/// local programs.
void buildDecomposePipeline(mlir::OpPassManager &manager);
void buildSplitPipeline(mlir::OpPassManager &manager);

/// The passes from the IR after plan to local IR that still has its claims
/// (origins, strategies) and the global copies, which the equality checker
/// reads.
void buildLocalizePipeline(mlir::OpPassManager &manager);

/// The passes from the IR after plan to the IR after partition, which is proved
/// and verified.
void buildPartitionPipeline(mlir::OpPassManager &manager);

/// Registers `--autopar-partition-pipeline` and `--autopar-localize-pipeline`.
void registerPartitionPipelines();

} // namespace autopar

#endif // AUTOPAR_PARTITION_PASSES_H
