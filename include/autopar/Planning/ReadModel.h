//===- ReadModel.h - From a module to the graph that is planned -----------===//

#ifndef AUTOPAR_PLANNING_READMODEL_H
#define AUTOPAR_PLANNING_READMODEL_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Reads @setup (if there is one) and @step. Errors name the op.
mlir::FailureOr<ModelGraph> readModel(mlir::ModuleOp module);

/// Returns the compute ops of @setup and @step in the order of ModelGraph::ops.
llvm::SmallVector<mlir::Operation *> plannedOps(mlir::ModuleOp module);

} // namespace autopar

#endif // AUTOPAR_PLANNING_READMODEL_H
