//===- OnnxTensor.h - A tensor of the file, validated -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXTENSOR_H
#define AUTOPAR_LIB_FRONTEND_ONNXTENSOR_H

#include "WireWalker.h"
#include "llvm/ADT/SmallVector.h"

namespace onnx {
class TensorProto;
}

namespace autopar {

/// Bytes of one element of an ONNX element type; 0 if it is not supported
/// (strings, complex numbers, numbers of less than 8 bits).
unsigned onnxElementBytes(int32_t dataType);

/// The type's name as the runtime writes it, f32, i64, ...; "" of others.
llvm::StringRef onnxElementDtype(int32_t dataType);

/// The type's name as ONNX writes it: FLOAT, INT64, ...
llvm::StringRef onnxElementName(int32_t dataType);

/// Product of `dims`; none if one is negative or the product in bytes
/// overflows.
std::optional<uint64_t> countElements(llvm::ArrayRef<int64_t> dims,
                                      unsigned elementBytes);

/// "has 40 dimensions; ..." of more than programs take; else "".
std::string rankFault(size_t rank);

/// Type, shape and place of a tensor's bytes, all checked against each other.
/// The bytes themselves were not looked at.
struct OnnxTensor {
  enum Place {
    InFile,    // at [offset, offset + bytes) of the (unpacked) model file
    InMessage, // in typed fields of `proto`, to be converted
    External   // at [offset, offset + bytes) of `file` in the model's folder
  };
  std::string name;
  int32_t dataType = 0;
  llvm::SmallVector<int64_t, 4> dims;
  uint64_t elements = 0;
  uint64_t bytes = 0;
  Place place = InMessage;
  std::string file;
  uint64_t offset = 0;
  const onnx::TensorProto *proto = nullptr;
  /// Tells whether it is an initializer of a graph; otherwise it is the value
  /// of a node's attribute.
  bool isInitializer = false;
};

/// Checks a tensor; `range` is where the walker found its data, if it did.
llvm::Expected<OnnxTensor> checkTensor(const onnx::TensorProto &proto,
                                       std::optional<DataRange> range);

/// Little-endian bytes of a tensor InMessage.
std::vector<char> bytesInMessage(const OnnxTensor &tensor);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXTENSOR_H
