//===- OnnxIndex.h - Tensors of an ONNX file by their names -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ONNXINDEX_H
#define AUTOPAR_RUNTIME_CORE_ONNXINDEX_H

#include "Status.h"
#include "TensorIndex.h"

#include <string>
#include <vector>

namespace autopar::runtime {

struct TensorMessage;

/// The initializers of a model's graph, and the values of its Constant nodes by
/// their outputs' names. The message is walked, not built; the file is mapped,
/// and of weights nothing is read.
class OnnxIndex {
public:
  OnnxIndex() = default;
  OnnxIndex(const OnnxIndex &) = delete;
  OnnxIndex &operator=(const OnnxIndex &) = delete;
  ~OnnxIndex();

  /// `isModel`: whether the file is an ONNX model at all; if it is and
  /// something is wrong with it, that is a failure.
  Status open(const std::string &path, bool &isModel);
  const TensorIndex &tensors() const { return index; }

  /// Little-endian bytes of a tensor that is held as numbers.
  static Status convert(const NamedTensor &tensor, std::vector<char> &bytes);

private:
  const char *walkGraph(std::string_view graph);
  const char *walkNode(std::string_view node);
  const char *add(std::string_view message, std::string name);
  const char *place(const TensorMessage &parsed, std::string_view message,
                    NamedTensor &tensor);

  void *mapped = nullptr;
  std::string_view file;
  TensorIndex index;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_ONNXINDEX_H
