//===- TensorIndex.h - Tensors of a file by their names ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_TENSORINDEX_H
#define AUTOPAR_RUNTIME_CORE_TENSORINDEX_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace autopar::runtime {

/// A tensor that a file of weights names, and the location of its bytes.
struct NamedTensor {
  std::string dtype; // as dtypeName; the file's own word if it has no such type
  std::vector<int64_t> shape;
  std::string external; // file beneath this one's folder; empty: this one
  int64_t offset = 0;
  int64_t bytes = 0;
  /// The part of an ONNX file that holds the tensor as numbers. It is 0 if the
  /// tensor is bytes in a file.
  int64_t messageOffset = 0;
  int64_t messageBytes = 0;
};

using TensorIndex = std::map<std::string, NamedTensor>;

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_TENSORINDEX_H
