//===- GemmPadding.cpp - Rows that fast kernels of GEMMs take -------------===//

#include "autopar/Cost/GemmPadding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

/// The least multiplications per byte for which padding is worth it. Padding
/// moves operands and results once more, and the epilogue becomes a kernel
/// beside the GEMM. (On an H100 with cuBLASLt 13.1 a GEMM reaches 95 TF/s
/// without padding and 700 TF/s with it, beside 3 TB/s of memory.)
static constexpr double kLeastFlopsPerByte = 64;
/// The least multiplications of a GEMM that is padded: a smaller one takes no
/// longer than the launch of the kernel of its epilogue.
static constexpr double kLeastFlops = 2.5e8;

bool isWorthPadding(double flops, double movedBytes) {
  return flops >= std::max(kLeastFlops, kLeastFlopsPerByte * movedBytes);
}

static bool has(const TensorFactors &tensor, unsigned factor) {
  return any_of(tensor, [&](const DimFactors &dim) {
    return is_contained(dim.factors, factor);
  });
}

/// Returns the number of factors in the same tensors as `factor`. A GEMM has
/// them as one dimension.
static size_t factorsAlike(const ShardingRule &rule, unsigned factor) {
  return count_if(seq<unsigned>(0, rule.factors.size()), [&](unsigned other) {
    auto isAlike = [&](const TensorFactors &tensor) {
      return has(tensor, factor) == has(tensor, other);
    };
    return all_of(rule.operands, isAlike) && all_of(rule.results, isAlike);
  });
}

std::optional<GemmSizes> alignedGrowth(const ShardingRule &rule,
                                       const GemmSizes &sizes,
                                       int64_t elementBytes, int64_t bytes) {
  const TensorFactors &lhs = rule.operands[0], &rhs = rule.operands[1],
                      &result = rule.results[0];
  std::map<unsigned, int64_t> growth; // by factor
  auto align = [&](const TensorFactors &tensor, ArrayRef<int64_t> shape) {
    if (shape.empty())
      return;
    int64_t size = shape.back();
    unsigned factor = tensor.back().factors.front();
    // A row of several dimensions is not aligned by padding one of them.
    if (size > 1 && size * elementBytes % bytes != 0 &&
        factorsAlike(rule, factor) == 1)
      growth[factor] = int64_t(alignTo(size, bytes / elementBytes)) - size;
  };
  align(lhs, sizes.lhs);
  align(rhs, sizes.rhs);
  align(result, sizes.result);
  if (growth.empty())
    return std::nullopt;
  auto growthOf = [&](const TensorFactors &tensor) {
    SmallVector<int64_t> more;
    for (const DimFactors &dim : tensor) {
      auto known = growth.find(dim.factors.front());
      more.push_back(known == growth.end() ? 0 : known->second);
    }
    return more;
  };
  return GemmSizes{growthOf(lhs), growthOf(rhs), growthOf(result)};
}

} // namespace autopar
