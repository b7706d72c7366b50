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

/// The two halves of the next one: keeps the planned program and writes
/// composites as their parts, on global types; then makes local programs.
void buildDecomposePipeline(mlir::OpPassManager &manager);
void buildSplitPipeline(mlir::OpPassManager &manager);

/// From the IR after plan to local IR that still carries its claims (origins,
/// strategies) and the global copies: what the equality checker reads.
void buildLocalizePipeline(mlir::OpPassManager &manager);

/// From the IR after plan to the IR after partition, checked and verified.
void buildPartitionPipeline(mlir::OpPassManager &manager);

/// `--autopar-partition-pipeline` and `--autopar-localize-pipeline`.
void registerPartitionPipelines();

} // namespace autopar

#endif // AUTOPAR_PARTITION_PASSES_H
