//===- TensorIndex.h - Tensors of a file by their names ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_TENSORINDEX_H
#define AUTOPAR_RUNTIME_CORE_TENSORINDEX_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::runtime {

/// A tensor that a file of weights names, and where its bytes are.
struct NamedTensor {
  std::string dtype; // as dtypeName; the file's own word if it has no such type
  std::vector<int64_t> shape;
  std::string external; // file beneath this one's folder; empty: this one
  int64_t offset = 0;
  int64_t bytes = 0;
  std::string_view message; // ONNX: holds it as numbers; null: bytes in a file
};

using TensorIndex = std::map<std::string, NamedTensor>;

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_TENSORINDEX_H
