//===- WeightPlaces.h - Where an executable finds its weights ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H
#define AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H

#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

struct WeightPaths {
  std::string model, executable;
  std::string given; // `--weights`; empty: beside the model
};

/// Says in the scheduled module where each weights file lies relative to the
/// executable. Parameters whose bytes are raw in no file (compressed models,
/// typed fields) are written to EXE.weights.
llvm::Error placeWeightFiles(mlir::ModuleOp module, const OnnxModel &model,
                             const WeightPaths &paths);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H
