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

/// Of an op of more operands an element is of one of many: all are in memory,
/// and which one it is follows from its index.
constexpr unsigned kManyOperands = 8;

/// Opaque for an op that is no kernel.
LoopRole loopRoleOf(mlir::Operation *op);

/// Whether the op is a collective, a send or a receive.
bool isCommunication(mlir::Operation *op);

/// For a RowReduction: its getRowRank.
int64_t rowRankOf(mlir::Operation *op);

/// For a RowReduction: how many rows it reduces.
int64_t rowCountOf(mlir::Operation *op);

/// The function that a pointwise op of one or two operands applies.
std::optional<UnaryKind> unaryKindOf(mlir::Operation *op);
std::optional<BinaryKind> binaryKindOf(mlir::Operation *op);

/// Of a Spread: operand dimension i becomes result dimension dims[i].
llvm::ArrayRef<int64_t> spreadDimsOf(mlir::Operation *op);

/// A part of an operand that is one run of its elements.
struct ReadBlock {
  int64_t first; // row-major
  llvm::SmallVector<int64_t> shape;
};

/// For an op that takes one index of each leading dimension and a part of
/// others: the block with those indices. nullopt: there is no smaller one than
/// the operand.
std::optional<ReadBlock> readBlockOf(mlir::Operation *op);
/// From now on the op's operand is that block.
void readFromBlock(mlir::Operation *op);

/// Whether `spread` (a Spread) holds one value per column of the
/// GEMM, or per channel of the convolution, that `libraryOp` computes: its
/// operand is then a bias. Its result is added to the library op's result,
/// possibly after a reshape.
bool isBiasOf(mlir::Operation *libraryOp, mlir::Operation *spread);

} // namespace autopar

#endif // AUTOPAR_DIALECT_KERNELFACTS_H
