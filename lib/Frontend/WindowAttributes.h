//===- WindowAttributes.h - Attributes of windowed operators ----*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_WINDOWATTRIBUTES_H
#define AUTOPAR_FRONTEND_WINDOWATTRIBUTES_H

#include "OnnxNode.h"

namespace autopar {

/// Attribute `name` (strides, dilations, ...) with one entry per spatial
/// dimension, or `byDefault` each; no entry below `byDefault` or past 2^30.
mlir::FailureOr<llvm::SmallVector<int64_t>>
windowAttribute(OnnxNode &node, llvm::StringRef name, size_t count,
                int64_t byDefault);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_WINDOWATTRIBUTES_H
