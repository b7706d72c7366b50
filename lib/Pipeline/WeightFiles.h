//===- WeightFiles.h - Where an executable finds its weights ----*- C++ -*-===//

#ifndef AUTOPAR_PIPELINE_WEIGHTFILES_H
#define AUTOPAR_PIPELINE_WEIGHTFILES_H

#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace autopar {

/// Notes on `module` where each weights file lies relative to the executable
/// `output`: the model's own files, or `weights` in their place. Parameters
/// whose bytes are not raw in a file (a compressed model, varint fields) are
/// written to `<output>.weights`.
llvm::Error placeWeights(mlir::ModuleOp module, const OnnxModel &model,
                         llvm::StringRef modelPath, llvm::StringRef weights,
                         llvm::StringRef output);

} // namespace autopar

#endif // AUTOPAR_PIPELINE_WEIGHTFILES_H
