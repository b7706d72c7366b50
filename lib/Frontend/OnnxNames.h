//===- OnnxNames.h - Names that the file may not have -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXNAMES_H
#define AUTOPAR_LIB_FRONTEND_ONNXNAMES_H

#include "OnnxContents.h"

namespace autopar {

/// The first name of a node, a value or a file of weights that is no UTF-8, as
/// ONNX asks; nullopt: there is none. Plans, manifests and messages are UTF-8.
std::optional<llvm::StringRef> nameBeyondUtf8(const OnnxModel::Contents &);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXNAMES_H
