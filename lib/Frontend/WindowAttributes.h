//===- WindowAttributes.h - Attributes of windowed operators ----*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_WINDOWATTRIBUTES_H
#define AUTOPAR_LIB_FRONTEND_WINDOWATTRIBUTES_H

#include "OnnxNode.h"

namespace autopar {

/// Attribute `name` (strides, dilations, ...) with one entry per spatial
/// dimension, or `byDefault` each; no entry below `byDefault` or past 2^30.
mlir::FailureOr<llvm::SmallVector<int64_t>>
windowAttribute(OnnxNode &node, llvm::StringRef name, size_t count,
                int64_t byDefault);

/// No size or padding of a window is larger.
constexpr int64_t kWindowLimit = 1 << 30;

/// A window over the spatial dimensions, with defaults filled in and checked.
struct WindowSpec {
  llvm::SmallVector<int64_t> size, strides, dilations, low, high;
  /// Result sizes. `high` was grown to reach them if ceil_mode asks for more,
  /// by `extra`.
  llvm::SmallVector<int64_t> out, extra;

  int64_t span(unsigned d) const { return dilations[d] * (size[d] - 1) + 1; }
};

/// The window of `size` that a node's attributes say, over `spatial`.
FailureOr<WindowSpec> windowOf(OnnxNode &node, llvm::ArrayRef<int64_t> size,
                               llvm::ArrayRef<int64_t> spatial);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_WINDOWATTRIBUTES_H
