//===- MadeWeights.h - Weights that the compiler writes ---------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_MADEWEIGHTS_H
#define AUTOPAR_LIB_PIPELINE_MADEWEIGHTS_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Frontend/OnnxReader.h"
#include "autopar/Lowering/Executable.h"
#include "files/ContentHash.h"
#include "files/OutputFile.h"
#include <map>
#include <optional>

namespace autopar {

/// The parameters whose bytes the compiler writes itself, once each however
/// many entries read them: into the executable, or into a file beside it.
class MadeWeights {
public:
  /// With `embedInto` into that executable, which is open; else into `path`,
  /// which appears when whole.
  MadeWeights(std::string path, ExecutableWriter *embedInto)
      : path(std::move(path)), executable(embedInto) {}

  /// `parameter` with its place among these weights.
  llvm::Expected<ParameterAttr> place(const OnnxModel &model,
                                      ParameterAttr parameter);
  /// What parameters name as their file; no model's external data is called so.
  std::string file() const;
  /// The file's name beside the executable; a word for those inside.
  std::string name() const;
  /// Whether that file is the one at `other`.
  bool isFile(llvm::StringRef other) const;
  /// Ends the weights, moves their file into place, and says where they are;
  /// nothing if there are none.
  llvm::Expected<std::optional<MadeWeightsPlace>> finish();

private:
  llvm::Error begin();
  llvm::Error append(const char *bytes, uint64_t count);

  std::string path;
  ExecutableWriter *executable;
  runtime::OutputFile beside;
  runtime::OutputFile *out = nullptr; // once there is something to write
  uint64_t start = 0;                 // where the weights begin in it
  runtime::ContentHash hash;
  std::map<std::string, std::pair<int64_t, int64_t>> places;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_MADEWEIGHTS_H
