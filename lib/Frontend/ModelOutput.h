//===- ModelOutput.h - Where a copy of a model is written -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_MODELOUTPUT_H
#define AUTOPAR_LIB_FRONTEND_MODELOUTPUT_H

#include "OnnxContents.h"
#include "files/OutputFile.h"

namespace autopar {

/// The files of an export, which appear once both are complete.
class ModelOutput {
public:
  ModelOutput(const OnnxModel::Contents &model, llvm::StringRef path)
      : model(model), path(path) {}

  /// `hasData`: some tensors are stored externally. Refuses to replace a file
  /// that the model is read from.
  llvm::Error open(bool hasData);
  /// Appends external data; `at` gets where they begin.
  llvm::Error append(const std::string &bytes, uint64_t &at);
  llvm::Error finish(const std::string &message);
  const std::string &dataPath() const { return data; }

private:
  llvm::Error checkPlace(const std::string &file, bool isAlone) const;

  const OnnxModel::Contents &model;
  std::string path;
  std::string data; // "" if there is none
  bool isDurable = false;
  runtime::OutputFile modelFile, dataFile;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_MODELOUTPUT_H
