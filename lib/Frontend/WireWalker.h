//===- WireWalker.h - Where tensor bytes are in an ONNX file ----*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_WIREWALKER_H
#define AUTOPAR_LIB_FRONTEND_WIREWALKER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// Bytes of the (unpacked) file that hold a tensor's elements, little-endian.
struct DataRange {
  enum Field { Raw, Floats, Doubles };
  uint64_t offset = 0;
  uint64_t length = 0;
  Field field = Raw;
};

/// A model whose large tensors were left out, and where those are.
struct Skeleton {
  /// The protobuf message without the data of large tensors.
  std::string bytes;
  /// An entry for each `graph.initializer`; nothing if its data is not one run
  /// of plain little-endian bytes (variable-length integers, several pieces).
  std::vector<std::optional<DataRange>> initializers;
  /// The ranges of tensor attributes, by (node, attribute) index.
  std::map<std::pair<unsigned, unsigned>, DataRange> attributes;
};

/// Walks a serialized ModelProto without building it, so that weights are never
/// copied and their places are known. Every length is checked.
llvm::Expected<Skeleton> walkModel(llvm::StringRef file);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_WIREWALKER_H
