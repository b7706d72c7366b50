//===- OnnxIndex.h - Tensors of an ONNX file by their names -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ONNXINDEX_H
#define AUTOPAR_RUNTIME_CORE_ONNXINDEX_H

#include "../files/FileReader.h"
#include "Status.h"
#include "TensorIndex.h"

#include <vector>

namespace autopar::runtime {

/// Reads which tensors a model's file has: the initializers of its graph, and
/// the values of its Constant nodes by their outputs' names. The message is
/// walked, not built, and of weights nothing is read. `isModel`: whether the
/// file is an ONNX model at all; if it is and something is wrong with it, that
/// is a failure.
Status readOnnxIndex(FileReader &file, TensorIndex &index, bool &isModel);

/// Little-endian bytes of a tensor that is held as numbers.
Status readOnnxNumbers(FileReader &file, const NamedTensor &tensor,
                       std::vector<char> &bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_ONNXINDEX_H
