//===- KernelFacts.h - What kernels may do with an op -----------*- C++ -*-===//
//
// The kernel-group analysis (Cost), Schedule and Lowering share these facts
// about ops, so that none of them has to name a compute op.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_KERNELFACTS_H
#define AUTOPAR_DIALECT_KERNELFACTS_H

#include "autopar/Dialect/Dialect.h"
#include <optional>

namespace autopar {

/// An op with more operands than this takes each element from the one operand
/// that the element's index chooses, and all of its operands are in memory.
constexpr unsigned kManyOperands = 8;

/// The op's role in loops; Opaque for an op that is no kernel.
LoopRole loopRoleOf(mlir::Operation *op);

/// Returns whether the op is a collective, a send or a receive.
bool isCommunication(mlir::Operation *op);

/// The getRowRank of a RowReduction.
int64_t rowRankOf(mlir::Operation *op);

/// The number of rows that a RowReduction reduces.
int64_t rowCountOf(mlir::Operation *op);

/// The function that a pointwise op of one or two operands applies.
std::optional<UnaryKind> unaryKindOf(mlir::Operation *op);
std::optional<BinaryKind> binaryKindOf(mlir::Operation *op);

/// The dims of a Spread: operand dimension i becomes result dimension dims[i].
llvm::ArrayRef<int64_t> spreadDimsOf(mlir::Operation *op);

/// A part of an operand that is one run of its elements in row-major order.
struct ReadBlock {
  int64_t first; // row-major
  llvm::SmallVector<int64_t> shape;
};

/// An op may read one index of each leading dimension and a part of the others.
/// This is the block of the operand with those indices; nullopt if no block is
/// smaller than the operand.
std::optional<ReadBlock> readBlockOf(mlir::Operation *op);
/// Changes the op so that its operand is that block.
void readFromBlock(mlir::Operation *op);

/// Returns whether `spread` (a Spread) holds one value per column of the
/// GEMM, or per channel of the convolution, that `libraryOp` computes: its
/// operand is then a bias. Its result is added to the library op's result,
/// possibly after a reshape.
bool isBiasOf(mlir::Operation *libraryOp, mlir::Operation *spread);

} // namespace autopar

#endif // AUTOPAR_DIALECT_KERNELFACTS_H
