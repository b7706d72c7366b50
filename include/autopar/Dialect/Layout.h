//===- Layout.h - The order of a tensor's dimensions in memory --*- C++ -*-===//
//
// Tensors have no layout. A buffer has: it is dense, and its dimensions are
// stored in some order. A buffer's memref says so by its strides.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_LAYOUT_H
#define AUTOPAR_DIALECT_LAYOUT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace autopar {

/// Dimensions from the outermost in memory to the contiguous one, e.g.
/// [0, 2, 3, 1] for images with channels last. Empty: row-major.
using Layout = llvm::SmallVector<int64_t, 4>;

/// The order as a list also where it is row-major.
Layout fullLayout(llvm::ArrayRef<int64_t> layout, size_t rank);
/// Empty if the order is row-major.
Layout shortLayout(llvm::ArrayRef<int64_t> layout);
/// [n, c, spatial...] as [n, spatial..., c].
Layout channelsLast(size_t rank);

/// [n, c, ...] as [c, n, ...].
Layout batchExchanged(size_t rank);

/// The one name of a layout of `shape` among those that name the same memory: a
/// dimension of size 1 follows the one before it in the shape. Empty also where
/// that makes it row-major, and for tensors without elements.
Layout canonicalLayout(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> layout);

/// Whether a dense tensor of `shape` has each element at the same place in both
/// layouts: they differ in dimensions of size 1 only.
bool sameMemory(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a,
                llvm::ArrayRef<int64_t> b);

/// `values`, one per dimension, in the order of memory.
template <typename T>
llvm::SmallVector<T> inMemoryOrder(llvm::ArrayRef<T> values,
                                   llvm::ArrayRef<int64_t> layout) {
  llvm::SmallVector<T> result;
  for (int64_t dim : fullLayout(layout, values.size()))
    result.push_back(values[dim]);
  return result;
}

/// The dense memref for `tensor` in `layout`.
mlir::MemRefType bufferType(mlir::RankedTensorType tensor,
                            llvm::ArrayRef<int64_t> layout);
/// The inverse: the layout of a dense memref. Row-major for a tensor.
Layout layoutOf(mlir::Type type);

/// The layout in which shape `to` names the elements of shape `from` in
/// `layout`: both have the same elements in row-major order of their indices,
/// and each keeps its place in memory. nullopt if there is none: a dimension of
/// `to` would step by two strides.
std::optional<Layout> viewLayout(llvm::ArrayRef<int64_t> from,
                                 llvm::ArrayRef<int64_t> layout,
                                 llvm::ArrayRef<int64_t> to);

/// The layout of `to` in which `op` touches its memory in the same order as
/// that of `from` in `layout`; both are operands or results of `op`. Of a view
/// it is viewLayout's, which names the same memory. Of other ops it is a good
/// choice, no more: dimensions correspond if they have factors of the sharding
/// rule in common; those left over on both sides correspond in order. nullopt
/// if there is none: a dimension of `to` would not be in one piece, or
/// corresponds to nothing.
std::optional<Layout> carryLayout(mlir::Operation *op, mlir::Value from,
                                  llvm::ArrayRef<int64_t> layout,
                                  mlir::Value to);

/// The operand of `op` that holds images [n, c, spatial...], if the library
/// that computes `op` cares for the layout of them and of its result.
std::optional<mlir::Value> imageOperandOf(mlir::Operation *op);

/// How many terms each element of the result of an op that has an
/// imageOperandOf adds up, if they are of one channel of many: of a depthwise
/// convolution.
std::optional<int64_t> depthwiseTerms(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_DIALECT_LAYOUT_H
