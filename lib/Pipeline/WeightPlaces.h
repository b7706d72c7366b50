//===- WeightPlaces.h - Where an executable finds its weights ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H
#define AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H

#include "MadeWeights.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

struct WeightPaths {
  std::string model;
  std::string folder; // of the executable
  std::string given;  // `--weights`; empty: beside the model
  bool embed = false; // all weights into `made`
};

/// Says in the scheduled module where each weights file is relative to the
/// executable, and what it holds now: kWeightFiles, kKnownTensors. Parameters
/// without a file, or all of them, go to `made`.
llvm::Error placeWeightFiles(mlir::ModuleOp module, const OnnxModel &model,
                             const WeightPaths &paths, MadeWeights &made);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H
