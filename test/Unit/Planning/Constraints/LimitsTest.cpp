//===- LimitsTest.cpp - What constraints leave to ops and values ----------===//

#include "autopar/Planning/Constraints/Limits.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

constexpr Choice kRows{Choice::Split, 0}, kColumns{Choice::Split, 1};

TEST(Limits, ChoicesAreAllowedOrNot) {
  OpLimit limit;
  EXPECT_TRUE(limit.allows({kRows}));
  limit.subAxes.resize(1);
  EXPECT_TRUE(limit.allows({kRows}));
  limit.subAxes[0].never = {kRows};
  EXPECT_FALSE(limit.allows({kRows}));
  EXPECT_TRUE(limit.allows({kColumns}));
  limit.subAxes[0].only = llvm::SmallVector<Choice, 2>{kRows};
  EXPECT_FALSE(limit.allows({kColumns}));
}

/// Time is no part of a pattern.
TEST(Limits, PatternsMatchDevices) {
  Mesh mesh({{kTimeAxis.str(), 2}, {"x", 2}});
  Sharding rows = Sharding::replicated(2);
  rows.dims[0].subAxes = {0, 1};
  ShardingLimit pattern;
  pattern.dims.resize(2);
  EXPECT_TRUE(pattern.matches(rows, mesh));
  pattern.dims[0] = llvm::SmallVector<unsigned, 2>{1};
  EXPECT_TRUE(pattern.matches(rows, mesh));
  pattern.dims[0] = llvm::SmallVector<unsigned, 2>{};
  EXPECT_FALSE(pattern.matches(rows, mesh));
  ValueLimit limit;
  limit.forbids.push_back(pattern);
  EXPECT_TRUE(limit.allows(rows, mesh));
  limit.pins.push_back(pattern);
  EXPECT_FALSE(limit.allows(rows, mesh));
}

/// A sub-axis that a pin wants in one dimension leaves the other.
TEST(Limits, PinsAreFitted) {
  Mesh mesh({{"x", 2}});
  Sharding rows = Sharding::replicated(2);
  rows.dims[0].subAxes = {0};
  ValueLimit limit;
  limit.pins.emplace_back().dims.resize(2);
  limit.pins.back().dims[1] = llvm::SmallVector<unsigned, 2>{0};
  Sharding fitted = limit.fit(rows, mesh);
  EXPECT_TRUE(fitted.dims[0].subAxes.empty());
  EXPECT_EQ(fitted.dims[1].subAxes.size(), 1u);
  EXPECT_TRUE(limit.allows(fitted, mesh));
}

TEST(Limits, StagesAreAllowedOrNot) {
  StageLimit limit;
  EXPECT_TRUE(limit.allows(3));
  limit.never = {3};
  EXPECT_FALSE(limit.allows(3));
  limit.only = 2;
  EXPECT_TRUE(limit.allows(2));
  EXPECT_FALSE(limit.allows(1));
}

} // namespace
