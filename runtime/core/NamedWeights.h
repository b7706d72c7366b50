//===- NamedWeights.h - Weights that are found by name ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_NAMEDWEIGHTS_H
#define AUTOPAR_RUNTIME_CORE_NAMEDWEIGHTS_H

#include "../files/FileReader.h"
#include "Manifest.h"
#include "OnnxIndex.h"
#include "TensorIndex.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopar::runtime {

/// The location of a tensor's bytes: in a file at `offset`, or in memory.
struct WeightBytes {
  FileReader *file = nullptr;
  int64_t offset = 0;
  const char *memory = nullptr; // not null: here
};

/// The tensors of ONNX and safetensors files by name.
class NamedWeights {
public:
  /// Adds the tensors of a file; `isKnown` says whether it is of either kind.
  Status add(const std::string &path, bool &isKnown);
  bool isEmpty() const { return sources.empty(); }
  bool has(const std::string &name) const { return places.count(name) > 0; }
  /// Returns the names in alphabetical order with the files that have them.
  const auto &names() const { return places; }
  bool hasOnnx() const { return onnx; }

  /// Finds an existing tensor, which must have this type and shape.
  Status find(const std::string &name, aprt_dtype dtype,
              const std::vector<int64_t> &shape, WeightBytes &where);
  /// Checks that the files have the values of these tensors for which the
  /// program was compiled. Tensors that no file names are ignored.
  Status checkKnown(const std::vector<KnownTensor> &tensors);
  /// Describes the files for messages.
  std::string describe() const;
  /// Returns the stamps of the files that were opened so far.
  const std::vector<FileStamp> &stamps() const { return fileStamps; }

private:
  struct Source {
    FileReader file;
    TensorIndex tensors;
    std::map<std::string, FileReader> external;
  };
  /// Finds the only file that has it.
  Status findSource(const std::string &name, Source *&source);
  Status place(Source &source, const std::string &name, WeightBytes &where);
  Status openExternal(Source &source, const NamedTensor &tensor,
                      FileReader *&file);

  bool onnx = false; // whether one of them is
  std::vector<std::unique_ptr<Source>> sources;
  std::map<std::string, std::vector<Source *>> places;
  std::map<std::string, std::vector<char>> converted;
  std::vector<FileStamp> fileStamps;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_NAMEDWEIGHTS_H
