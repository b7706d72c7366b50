//===- GemmPaddingTest.cpp - Rows that fast kernels of GEMMs take ---------===//

#include "autopar/Cost/GemmPadding.h"
#include "gtest/gtest.h"

using namespace autopar;
using Shape = llvm::SmallVector<int64_t>;

namespace {

/// "mk,nk->mn".
ShardingRule product() {
  ShardingRule rule;
  for (unsigned factor = 0; factor < 3; ++factor)
    rule.addFactor(1);
  rule.operands = {{0u, 2u}, {1u, 2u}};
  rule.results = {{0u, 1u}};
  return rule;
}

TEST(GemmPadding, RowsGrowToMultiples) {
  std::optional<GemmSizes> growth =
      alignedGrowth(product(), {{512, 768}, {50257, 768}, {512, 50257}},
                    /*elementBytes=*/2, /*bytes=*/16);
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->lhs, (Shape{0, 0}));
  EXPECT_EQ(growth->rhs, (Shape{7, 0}));
  EXPECT_EQ(growth->result, (Shape{0, 7}));
}

TEST(GemmPadding, AlignedRowsStay) {
  EXPECT_FALSE(
      alignedGrowth(product(), {{512, 768}, {3000, 768}, {512, 3000}}, 2, 16));
  EXPECT_FALSE(
      alignedGrowth(product(), {{512, 768}, {3001, 768}, {512, 3001}}, 4, 4));
}

/// "mk,khn->mhn": columns are h and n together, which padding n would break.
TEST(GemmPadding, RowsOfSeveralDimensionsStay) {
  ShardingRule rule;
  for (unsigned factor = 0; factor < 4; ++factor)
    rule.addFactor(1);
  rule.operands = {{0u, 1u}, {1u, 2u, 3u}};
  rule.results = {{0u, 2u, 3u}};
  EXPECT_FALSE(
      alignedGrowth(rule, {{4096, 768}, {768, 3, 333}, {4096, 3, 333}}, 2, 16));
}

TEST(GemmPadding, PaysForManyProducts) {
  EXPECT_FALSE(isWorthPadding(/*flops=*/1e8, /*movedBytes=*/0));
  EXPECT_TRUE(isWorthPadding(1e9, 1e6));
  EXPECT_FALSE(isWorthPadding(1e9, 1e8));
}

} // namespace
