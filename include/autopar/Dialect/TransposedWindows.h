//===- TransposedWindows.h - From what windows gave to what they read -----===//

#ifndef AUTOPAR_DIALECT_TRANSPOSEDWINDOWS_H
#define AUTOPAR_DIALECT_TRANSPOSEDWINDOWS_H

#include "autopar/Dialect/TensorBuilder.h"

namespace autopar {

/// The places of windows in each spatial dimension: element k of window i is at
/// i * stride + k * dilation - padLow.
struct WindowSteps {
  llvm::ArrayRef<int64_t> strides, dilations, padLow;
};

/// Turns negative padding of dimension `dim` into a slice of the operand, so
/// that a window has no negative padding.
mlir::Value cutPadding(TensorBuilder &b, mlir::Value x, int64_t dim,
                       int64_t &low, int64_t &high);

/// Turns results of windows, [n, c, windows...], into an image that windows of
/// stride 1 read: the elements are spread apart by the strides, and padded so
/// that these windows give an image of spatial shape `to`.
struct TransposedWindows {
  mlir::Value image;
  llvm::SmallVector<int64_t> low, high, strides;

  TransposedWindows(TensorBuilder &b, mlir::Value x,
                    llvm::ArrayRef<int64_t> window, const WindowSteps &steps,
                    llvm::ArrayRef<int64_t> to);
};

/// The transpose of the convolution of an image [n, c, space...] of type `to`
/// with `filter` [o, c / groups, window...]: each element of `x` [n, o,
/// windows...] times the filter, added to what its window reads. It is the
/// gradient of the convolution by its input, and ONNX's ConvTranspose.
///
/// Points that are as many strides apart read the same positions of the window:
/// they are a convolution of stride 1, and the result is put together from
/// them.
mlir::Value transposedConvolution(TensorBuilder &b, mlir::Value x,
                                  mlir::Value filter, mlir::RankedTensorType to,
                                  const WindowSteps &steps, int64_t groups);

} // namespace autopar

#endif // AUTOPAR_DIALECT_TRANSPOSEDWINDOWS_H
