//===- KernelFacts.h - What kernels may do with an op -----------*- C++ -*-===//
//
// Facts of ops that the kernel-group analysis (Cost), Schedule and Lowering
// share, so that none of them names a compute op to learn them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_KERNELFACTS_H
#define AUTOPAR_DIALECT_KERNELFACTS_H

#include "autopar/Dialect/Dialect.h"
#include <optional>

namespace autopar {

/// How a loop nest computes an op.
enum class LoopRole {
  Source,       // no tensor is read: constant, iota, block_offset
  Pointwise,    // result index i reads each operand at i
  Spread,       // result index i reads the operand at a projection: broadcast
  Remap,        // each result element is one operand element at another index
  Scatter,      // like Remap, but contiguous reads become strided: transposes
                // that move the innermost dimension
  RowReduction, // reads whole rows of its operand: see rowRankOf
  Whole,        // needs a loop nest of its own: pool, scan, gather_nd, ...
  View,         // same elements in the same order: no work
  Opaque,       // not a compute op: communication, return
};
LoopRole loopRoleOf(mlir::Operation *op);

/// For a RowReduction: how many leading dimensions of the operand index rows;
/// it reduces over all later ones (dimensions of size 1 aside).
std::optional<int64_t> rowRankOf(mlir::Operation *op);

/// For a RowReduction: how many rows it reduces.
int64_t rowCountOf(mlir::Operation *op);

/// The function that a pointwise op of one or two operands applies.
std::optional<UnaryKind> unaryKindOf(mlir::Operation *op);
std::optional<BinaryKind> binaryKindOf(mlir::Operation *op);

/// Of a Spread: operand dimension i becomes result dimension dims[i].
llvm::ArrayRef<int64_t> spreadDimsOf(mlir::Operation *op);

/// Whether a library can compute the op at all: a contraction is a matrix
/// product by strides, a convolution has 1 to 3 spatial dimensions.
bool isLibraryOp(mlir::Operation *op);

/// Of a library op that reads an image: how many positions that has.
std::optional<int64_t> imagePositionsOf(mlir::Operation *op);

/// Whether `spread` (a Spread) holds one value per column of the matrix
/// product, or per channel of the convolution, that `libraryOp` computes: its
/// operand is then a bias. Its result is added to the library op's result,
/// possibly after a reshape.
bool isBiasOf(mlir::Operation *libraryOp, mlir::Operation *spread);

} // namespace autopar

#endif // AUTOPAR_DIALECT_KERNELFACTS_H
