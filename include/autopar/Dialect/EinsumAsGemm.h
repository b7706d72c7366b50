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
  /// The trailing result dimensions that n is made of: a bias of that shape is
  /// one value per column.
  llvm::SmallVector<int64_t, 2> columnShape;
};

/// At most this many batch dimensions remain after collapsing.
inline constexpr size_t kMaxGemmBatch = 4;

/// The GEMM that computes the einsum without copies; nullopt if there
/// is none: contracted letters that do not collapse to one dimension, a matrix
/// without a contiguous dimension, or too many batch dimensions. C's columns
/// (n) are always contiguous; in A and B either dimension of the matrix is.
std::optional<EinsumAsGemm> einsumAsGemm(llvm::StringRef lhsLetters,
                                         llvm::StringRef rhsLetters,
                                         llvm::StringRef resultLetters,
                                         llvm::ArrayRef<int64_t> lhsShape,
                                         llvm::ArrayRef<int64_t> rhsShape);
std::optional<EinsumAsGemm> einsumAsGemm(EinsumOp op);
/// The same GEMM on operands that are stored in these layouts; nullopt where it
/// is another one, or none.
std::optional<EinsumAsGemm> einsumAsGemm(EinsumOp op,
                                         llvm::ArrayRef<int64_t> lhsLayout,
                                         llvm::ArrayRef<int64_t> rhsLayout);

/// How many elements further each dimension of a GEMM's tensors goes so that
/// their rows in memory are aligned.
struct GemmGrowth {
  llvm::SmallVector<int64_t> lhs, rhs, result;
};
/// Of an einsum that is a GEMM: the growth that makes its contiguous rows
/// multiples of `bytes`. Padded with zeros, operands give the same sums, and a
/// result whose first elements are the unpadded one's. Rows of several
/// dimensions stay as they are. Nullopt: no einsum, no GEMM, nothing to align.
std::optional<GemmGrowth> alignedGrowth(mlir::Operation *op, int64_t bytes);

} // namespace autopar

#endif // AUTOPAR_DIALECT_EINSUMASGEMM_H
