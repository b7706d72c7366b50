//===- OnnxReader.h - An ONNX file, read and checked ------------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_ONNXREADER_H
#define AUTOPAR_FRONTEND_ONNXREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace autopar {

struct ReadOptions {
  /// Follow symbolic and hard links to external data inside the model's folder.
  bool allowLinkedWeights = false;
  /// The largest model file, unpacked. Protobuf itself ends at 2 GiB.
  uint64_t maxBytes = (uint64_t(1) << 31) - 1;
};

/// A model file (`.onnx` or `.onnx.gz`) whose message was parsed within hard
/// limits. Weights stay in the file; external data may be absent until its
/// bytes are asked for.
class OnnxModel {
public:
  static llvm::Expected<std::unique_ptr<OnnxModel>>
  read(llvm::StringRef path, const ReadOptions &options = {});
  ~OnnxModel();

  /// File name without folders, as `#autopar.parameter` gives it.
  llvm::StringRef fileName() const;

  /// Little-endian bytes of the parameter of that name (an initializer, or the
  /// tensor of a Constant node by its output's name), wherever they are. For
  /// parameters whose place is not known (offset -1) this is the only way.
  llvm::Expected<std::vector<char>> readParameter(llvm::StringRef name) const;

  /// Returns whether it is an initializer of the model's own graph: a weight,
  /// that other files may have under this name; not a constant, nor inside a
  /// body.
  bool isGraphInitializer(llvm::StringRef name) const;
  /// Initializers of the graph whose values the importer looked at, by name:
  /// the program holds for these values only.
  std::vector<std::string> knownInitializers() const;
  /// Returns whether the file is a `.gz`, whose tensors are in no file.
  bool isPacked() const;
  /// Fails where a file that was read has changed since: what was read may be
  /// of two files.
  llvm::Error checkUnchanged() const;

  /// The parsed file, which the importer walks; private to the Frontend.
  struct Contents;
  const Contents &contents() const { return *content; }
  Contents &contents() { return *content; }

private:
  OnnxModel();
  std::unique_ptr<Contents> content;
};

} // namespace autopar

#endif // AUTOPAR_FRONTEND_ONNXREADER_H
