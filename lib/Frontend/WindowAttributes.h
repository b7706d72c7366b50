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

/// An error unless a filter of shape `w` in `groups` fits an input of shape
/// `x`.
LogicalResult checkFilter(OnnxNode &node, llvm::ArrayRef<int64_t> x,
                          llvm::ArrayRef<int64_t> w, int64_t groups);
/// An error unless input i is missing or has one value per output channel.
LogicalResult checkBias(OnnxNode &node, unsigned i, int64_t channels);
Value convolve(OnnxNode &node, Value x, Value w, const WindowSpec &window,
               int64_t groups);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_WINDOWATTRIBUTES_H
