//===- GemmPadding.h - Rows that fast kernels of GEMMs take -----*- C++ -*-===//

#ifndef AUTOPAR_COST_GEMMPADDING_H
#define AUTOPAR_COST_GEMMPADDING_H

#include "autopar/Interfaces/Sharding.h"
#include <optional>

namespace autopar {

/// The sizes of a GEMM's tensors, or the elements by which each dimension
/// grows.
struct GemmSizes {
  llvm::SmallVector<int64_t> lhs, rhs, result;
};

/// Returns the growth that makes the contiguous rows of a GEMM multiples of
/// `bytes`. Operands that are padded with zeros give the same sums, and the
/// first elements of the padded result are the unpadded result. Rows of several
/// dimensions do not grow. Example: "mk,nk->mn" with n = 50257 of two bytes
/// each grows n by 7 for rows of 16 bytes. Returns nullopt if all rows are
/// aligned.
///
/// `rule` is an einsum's: two operands and one result, a factor for each
/// dimension.
std::optional<GemmSizes> alignedGrowth(const ShardingRule &rule,
                                       const GemmSizes &sizes,
                                       int64_t elementBytes, int64_t bytes);

/// Returns whether a GEMM of so many multiplications and additions gains by
/// padding that moves so many bytes more.
bool isWorthPadding(double flops, double movedBytes);

} // namespace autopar

#endif // AUTOPAR_COST_GEMMPADDING_H
