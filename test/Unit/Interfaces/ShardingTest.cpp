//===- ShardingTest.cpp - Meshes, blocks and rules as plain data ----------===//

#include "autopar/Interfaces/Sharding.h"
#include <gtest/gtest.h>

using namespace autopar;

namespace {

TEST(Mesh, HoldsAxesAsPrimeFactors) {
  Mesh mesh({{"data", 4}, {"tensor", 3}, {"one", 1}});
  ASSERT_EQ(mesh.subAxes().size(), 3u);
  EXPECT_EQ(mesh.subAxes()[0].name, "data.0");
  EXPECT_EQ(mesh.subAxes()[1].name, "data.1");
  EXPECT_EQ(mesh.subAxes()[2].name, "tensor");
  EXPECT_EQ(mesh.deviceCount(), 12);
  EXPECT_EQ(mesh.spell({0, 1, 2}),
            (llvm::SmallVector<std::string>{"data", "tensor"}));
  EXPECT_EQ(mesh.spell({1}), llvm::SmallVector<std::string>{"data.1"});
  EXPECT_FALSE(mesh.lookup("data.2").has_value());
  EXPECT_TRUE(mesh.lookup("one")->empty());
}

TEST(Mesh, NumbersGroupsMajorToMinor) {
  Mesh mesh({{"data", 2}, {"tensor", 3}});
  EXPECT_EQ(mesh.linearIndex({0, 1}, 5), 5);
  EXPECT_EQ(mesh.linearIndex({1}, 5), 2);
  EXPECT_EQ(mesh.group({1}, 4), (llvm::SmallVector<int64_t>{3, 4, 5}));
  EXPECT_EQ(mesh.group({1, 0}, 0),
            (llvm::SmallVector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Mesh, TimeIsNoDeviceAxis) {
  Mesh mesh({{"time", 4}, {"x", 2}});
  EXPECT_EQ(mesh.deviceCount(), 2);
  EXPECT_EQ(mesh.timeCount(), 4);
  EXPECT_EQ(mesh.pointCount(), 8);
}

/// b m k, k n -> b m n.
ShardingRule matmul() {
  ShardingRule rule;
  unsigned m = rule.addFactor(6), n = rule.addFactor(5),
           k = rule.addFactor(7, FactorKind::Reduce);
  rule.factors[k].mask = 0;
  rule.operands = {{m, k}, {k, n}};
  rule.results = {{m, n}};
  rule.passes = {{{0}, ReduceKind::Sum}, {{1}, ReduceKind::Sum}};
  return rule;
}

TEST(Rule, ContractedFactorMakesPartialResults) {
  Mesh mesh({{"x", 2}, {"y", 2}});
  auto s =
      shardingsOf(matmul(), {{Choice::Split, 0}, {Choice::Split, 2}}, mesh);
  ASSERT_TRUE(s);
  EXPECT_EQ(toString(s->operands[0], mesh), "[{\"x\"}, {\"y\"}]");
  EXPECT_EQ(toString(s->operands[1], mesh), "[{\"y\"}, {}]");
  EXPECT_EQ(toString(s->results[0], mesh),
            "[{\"x\"}, {}], partial = {\"y\": sum}");
  EXPECT_EQ(localShape({6, 7}, s->operands[0], mesh),
            (llvm::SmallVector<int64_t>{3, 4}));
  EXPECT_TRUE(isUneven(7, s->operands[0].dims[1], mesh));
}

TEST(Rule, PassCarriesPartial) {
  Mesh mesh({{"x", 2}});
  auto s = shardingsOf(matmul(), {{Choice::Pass, 1}}, mesh);
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->operands[0].isReplicated());
  EXPECT_EQ(s->operands[1].partial.size(), 1u);
  EXPECT_EQ(s->results[0].partial.size(), 1u);
  EXPECT_FALSE(shardingsOf(matmul(), {{Choice::Pass, 2}}, mesh));
  EXPECT_FALSE(shardingsOf(matmul(), {{Choice::Split, 9}}, mesh));
}

TEST(Rule, CompoundDimensionSplitsItsMajorFactorEvenly) {
  ShardingRule rule; // [6, 4] -> [24]
  unsigned a = rule.addFactor(6), b = rule.addFactor(4);
  DimFactors both;
  both.factors = {a, b};
  rule.operands = {{a, b}};
  rule.results = {{both}};
  EXPECT_TRUE(canSplit(rule, a, 3));
  EXPECT_FALSE(canSplit(rule, a, 4));
  EXPECT_FALSE(canSplit(rule, b, 2));
}

TEST(Rule, WindowDemandsAnInterval) {
  ShardingRule rule; // 3 wide, stride 2, one padding: [9] -> [5]
  unsigned h = rule.addFactor(5);
  DimFactors window(h);
  window.window = Window{3, 2, 1, 1, 0.0};
  rule.operands = {{window}};
  rule.results = {{h}};
  Mesh mesh({{"x", 2}});
  auto s = shardingsOf(rule, {{Choice::Split, 0}}, mesh);
  ASSERT_TRUE(s);
  EXPECT_EQ(*s->operands[0].dims[0].interval, (Interval{6, -1, 7}));
}

} // namespace
