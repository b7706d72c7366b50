//===- EinsumAsGemm.h - An einsum as one batched GEMM -----------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_EINSUMASGEMM_H
#define AUTOPAR_DIALECT_EINSUMASGEMM_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace autopar {

class EinsumOp;

/// C[b..., m, n] = sum over k of A[b..., m, k] * B[b..., k, n] on dense
/// row-major tensors, by element strides. Strides hold batch..., then the two
/// dimensions of the matrix; a batch dimension that a tensor does not have has
/// stride 0.
///
/// "bshd,bthd->bhst" -> batch = [b, h], m = s, n = t, k = d.
struct EinsumAsGemm {
  /// A is the einsum's rhs and B its lhs (so that C's rows are contiguous).
  bool swapped = false;
  llvm::SmallVector<int64_t, 4> batch;
  int64_t m = 1, n = 1, k = 1;
  llvm::SmallVector<int64_t, 6> aStrides, bStrides, cStrides;
  /// The trailing dimensions of the result that make up n. A bias with their
  /// shape has one value per column.
  llvm::SmallVector<int64_t, 2> columnShape;
};

/// At most this many batch dimensions remain after collapsing.
inline constexpr size_t kMaxGemmBatch = 4;

/// The GEMM that computes the einsum without copies. It is nullopt if there is
/// none: contracted letters do not collapse to one dimension, a matrix has no
/// contiguous dimension, or there are too many batch dimensions. C's columns
/// (n) are always contiguous; in A and B either dimension of the matrix is.
std::optional<EinsumAsGemm> einsumAsGemm(llvm::StringRef lhsLetters,
                                         llvm::StringRef rhsLetters,
                                         llvm::StringRef resultLetters,
                                         llvm::ArrayRef<int64_t> lhsShape,
                                         llvm::ArrayRef<int64_t> rhsShape);
std::optional<EinsumAsGemm> einsumAsGemm(EinsumOp op);
/// The same GEMM on operands that are stored in these layouts. It is nullopt if
/// on these layouts the einsum is another GEMM, or none.
std::optional<EinsumAsGemm> einsumAsGemm(EinsumOp op,
                                         llvm::ArrayRef<int64_t> lhsLayout,
                                         llvm::ArrayRef<int64_t> rhsLayout);

/// The elements by which each dimension of a GEMM's tensors grows so that their
/// rows in memory are aligned.
struct GemmGrowth {
  llvm::SmallVector<int64_t> lhs, rhs, result;
};
/// The growth that makes the contiguous rows of an einsum that is a GEMM
/// multiples of `bytes`. Operands that are padded with zeros give the same
/// sums, and the first elements of the padded result are the unpadded result.
/// Rows of several dimensions do not grow. It is nullopt if the op is no
/// einsum, the einsum no GEMM, `bytes` 0, or nothing has to be aligned.
std::optional<GemmGrowth> alignedGrowth(mlir::Operation *op, int64_t bytes);

} // namespace autopar

#endif // AUTOPAR_DIALECT_EINSUMASGEMM_H
