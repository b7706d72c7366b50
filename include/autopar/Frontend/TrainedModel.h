//===- TrainedModel.h - A model with the tensors of a training --*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_TRAINEDMODEL_H
#define AUTOPAR_FRONTEND_TRAINEDMODEL_H

#include "autopar/Frontend/OnnxReader.h"
#include <functional>
#include <map>

namespace autopar {

/// A tensor as a training left it.
struct TrainedTensor {
  std::string dtype; // "f32", as the runtime names types
  std::vector<int64_t> shape;
  /// Writes its little-endian bytes, as many as type and shape have.
  std::function<llvm::Error(char *to)> read;
};

/// The tensors of a training by name. A tensor that may be a state of a run,
/// which is an input of the model, need not be a tensor of the model.
struct TrainedTensors {
  std::string from; // the file or folder that has them, for messages
  std::map<std::string, TrainedTensor> tensors;
};

/// Counts and names for a note to a person: what was changed in the copy of the
/// model.
struct TrainedModelReport {
  unsigned replaced = 0; // tensors
  /// Initializers of floats that were not changed.
  std::vector<std::string> untouched;
  /// States of the training that are inputs of the model and no tensors.
  std::vector<std::string> inputs;
  /// Batch norms that took the statistics of the batch, Dropout nodes that were
  /// taken out, and tensors that only such nodes read.
  unsigned norms = 0, dropouts = 0, dropoutTensors = 0;
  std::string dataFile; // of external data; "" if there is none
};

/// Writes a copy of the model for inference, as `compile --evaluate` reads it,
/// with these tensors in place of its own of the same names. External data go
/// to OUTPUT.data. An error names the first tensor that the model does not
/// have, or has with another type or shape; then nothing is written. The call
/// uses the model up.
llvm::Expected<TrainedModelReport>
writeTrainedModel(std::unique_ptr<OnnxModel> model,
                  const TrainedTensors &trained, llvm::StringRef output);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_TRAINEDMODEL_H
