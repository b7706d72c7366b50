//===- ExportSizes.h - A plan as sizes of parallelism -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_EXPORTSIZES_H
#define AUTOPAR_LIB_REPORT_EXPORTSIZES_H

#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// The features that a system's settings can express.
struct ExportSystem {
  llvm::StringRef option; // as --export takes it
  llvm::StringRef name;   // as its authors write it
  bool training = true;
  bool context = true;          // an axis over the sequence
  bool sequenceParallel = true; // the tensor axis over it, between contractions
};

/// The sizes of parallelism of one step. The number of devices is data *
/// context * tensor * pipeline.
struct ExportSizes {
  int64_t data = 1, context = 1, tensor = 1, pipeline = 1;
  /// The number of devices that the experts are split over; they do other work
  /// outside the experts. `expertTensor` is the part of the tensor axis that
  /// splits each expert.
  int64_t expert = 1, expertTensor = 1;
  bool sequenceParallel = false;
  unsigned zeroStage = 0; // of training
  bool training = false;
  int64_t microBatchRows = 1; // on one device
  int64_t microBatches = 1;   // that a step adds up, blocks of a recipe too
  /// The number of repeated layers of each stage. It is empty if no layer
  /// repeats.
  llvm::SmallVector<int64_t> layersOfStage;
  std::vector<std::string> remarks;

  int64_t rows() const { return microBatchRows * microBatches * data; }
  /// Returns whether all stages have the same number of layers, which is what
  /// systems do by default.
  bool evenLayers() const { return llvm::all_equal(layersOfStage); }
};

/// Returns the sizes of the plan for a system. It fails if the mesh has several
/// devices and no axis of it does anything that the system has a setting for.
llvm::Expected<ExportSizes> exportSizes(const Plan &plan,
                                        const ModelGraph &graph,
                                        const ExportSystem &system);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_EXPORTSIZES_H
