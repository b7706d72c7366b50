//===- OnnxContents.h - What OnnxModel holds --------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXCONTENTS_H
#define AUTOPAR_LIB_FRONTEND_ONNXCONTENTS_H

#include "OnnxTensor.h"
#include "autopar/Frontend/OnnxReader.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {

struct OnnxModel::Contents {
  std::string path;
  std::string folder;
  std::string fileName;
  ReadOptions options;
  /// The unpacked file of a `.gz` model; empty for a plain one, whose bytes are
  /// read again from `path` when asked for.
  std::string unpacked;
  bool packed = false;
  /// The message without the data of large tensors (see Skeleton).
  onnx::ModelProto proto;
  Skeleton skeleton;
  /// Valid initializers and tensor attributes of Constant nodes and of calls,
  /// by value name (in subgraphs and functions, with a number where the name is
  /// taken) and by message. Faulty ones are in `faults`, with what is wrong.
  llvm::StringMap<OnnxTensor> tensors;
  llvm::DenseMap<const onnx::TensorProto *, const OnnxTensor *> byMessage;
  std::vector<std::pair<std::string, std::string>> faults;
  /// Names of the graph's initializers, once asked for.
  llvm::StringSet<> initializers;
  /// Names of tensors whose values were looked at.
  mutable llvm::StringSet<> known;
  /// The stamps of the files that were read, taken before the first read.
  struct Stamps;
  std::unique_ptr<Stamps> stamps;

  llvm::Expected<std::vector<char>> read(const OnnxTensor &tensor) const;
  /// Bytes of the (unpacked) model file.
  llvm::Expected<std::vector<char>> readOwn(uint64_t offset,
                                            uint64_t bytes) const;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXCONTENTS_H
