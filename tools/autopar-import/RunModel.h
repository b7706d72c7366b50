//===- RunModel.h - Runs an imported model with the interpreter -*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_IMPORT_RUNMODEL_H
#define AUTOPAR_TOOLS_AUTOPAR_IMPORT_RUNMODEL_H

#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/BuiltinOps.h"

/// Runs `module` on raw files `FOLDER/in.<i>` (input i of @step, little-endian)
/// and writes `FOLDER/out.<i>`. Parameters come from the model.
mlir::LogicalResult runModel(mlir::ModuleOp module,
                             const autopar::OnnxModel &model,
                             llvm::StringRef folder);

#endif // AUTOPAR_TOOLS_AUTOPAR_IMPORT_RUNMODEL_H
