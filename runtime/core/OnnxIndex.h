//===- OnnxIndex.h - Tensors of an ONNX file by their names -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ONNXINDEX_H
#define AUTOPAR_RUNTIME_CORE_ONNXINDEX_H

#include "../files/FileReader.h"
#include "Status.h"
#include "TensorIndex.h"

#include <vector>

namespace autopar::runtime {

/// Reads the names of the tensors of a model's file: the initializers of its
/// graph, and the values of its Constant nodes by their outputs' names. It
/// walks the message without building it and reads no weights. `isModel` is set
/// if the file is an ONNX model; a problem in such a file is a failure.
Status readOnnxIndex(FileReader &file, TensorIndex &index, bool &isModel);

/// Reads the little-endian bytes of a tensor that is stored as numbers.
Status readOnnxNumbers(FileReader &file, const NamedTensor &tensor,
                       std::vector<char> &bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_ONNXINDEX_H
