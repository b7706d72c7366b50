//===- Layout.h - The order of a tensor's dimensions in memory --*- C++ -*-===//
//
// A tensor has no layout. A buffer has one: it is dense, and its dimensions are
// stored in some order, which the strides of the buffer's memref express.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_LAYOUT_H
#define AUTOPAR_DIALECT_LAYOUT_H

#include "autopar/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace autopar {

// A Layout (Interfaces.h) has the dimensions from the outermost in memory to
// the contiguous one: [0, 2, 3, 1] for images with channels last. An empty list
// means row-major.

/// The order as a full list, also if it is row-major.
Layout fullLayout(llvm::ArrayRef<int64_t> layout, size_t rank);
/// The layout for an order: empty if the order is row-major.
Layout shortLayout(llvm::ArrayRef<int64_t> layout);
/// The layout that stores [n, c, spatial...] as [n, spatial..., c].
Layout channelsLast(size_t rank);

/// The layout that stores [n, c, ...] as [c, n, ...].
Layout batchExchanged(size_t rank);

/// The canonical layout of `shape` among those that name the same memory: a
/// dimension of size 1 follows the dimension before it in the shape. It is
/// empty if that is row-major, and for tensors without elements.
Layout canonicalLayout(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> layout);

/// Returns whether a dense tensor of `shape` has each element at the same place
/// in both layouts, which then differ in dimensions of size 1 only.
bool sameMemory(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a,
                llvm::ArrayRef<int64_t> b);

/// Reorders `values`, one per dimension, into the order of memory.
template <typename T>
llvm::SmallVector<T> inMemoryOrder(llvm::ArrayRef<T> values,
                                   llvm::ArrayRef<int64_t> layout) {
  llvm::SmallVector<T> result;
  for (int64_t dim : fullLayout(layout, values.size()))
    result.push_back(values[dim]);
  return result;
}

/// The type of the dense memref that holds `tensor` in `layout`.
mlir::MemRefType bufferType(mlir::RankedTensorType tensor,
                            llvm::ArrayRef<int64_t> layout);
/// The layout of a dense memref; row-major for a tensor.
Layout layoutOf(mlir::Type type);

/// The shapes `from` and `to` have the same elements in row-major order of
/// their indices, as before and after a reshape. The layout of `to` in which
/// each element keeps the place that it has in `from` in `layout`; nullopt if
/// there is none, because a dimension of `to` would need two strides.
std::optional<Layout> viewLayout(llvm::ArrayRef<int64_t> from,
                                 llvm::ArrayRef<int64_t> layout,
                                 llvm::ArrayRef<int64_t> to);

/// `from` and `to` are operands or results of `op`. The layout of `to` in which
/// `op` touches its memory in the same order as the memory of `from` in
/// `layout`. For a view it is viewLayout, which names the same memory. For
/// other ops it is only a good choice: dimensions correspond if they have
/// factors of the sharding rule in common, and those left over on both sides
/// correspond in order. It is nullopt if a dimension of `to` would not be in
/// one piece, or corresponds to nothing.
std::optional<Layout> carryLayout(mlir::Operation *op, mlir::Value from,
                                  llvm::ArrayRef<int64_t> layout,
                                  mlir::Value to);

/// The operand of `op` that holds images [n, c, spatial...], if a library
/// computes `op` and the layout of images and result matters to it.
std::optional<mlir::Value> imageOperandOf(mlir::Operation *op);

/// The number of terms that each element of the result adds up, if the op has
/// an imageOperandOf and is a depthwise convolution, whose elements add up
/// terms of one channel of many.
std::optional<int64_t> depthwiseTerms(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_DIALECT_LAYOUT_H
