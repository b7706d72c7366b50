//===- LineSearchTest.cpp - The next multiplier to try --------------------===//

#include "lib/Planning/Solver/LineSearch.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// 10 seconds and 20 bytes too many against 40 seconds and 10 to spare: at one
/// second per byte both cost 30.
TEST(LineSearch, TriesWhereBothSidesCostAsMuch) {
  LineSearch lines;
  EXPECT_TRUE(lines.add({0, {10, 20}}, /*fits=*/false));
  EXPECT_FALSE(lines.isBracketed());
  EXPECT_TRUE(lines.add({8, {40, -10}}, /*fits=*/true));
  ASSERT_TRUE(lines.isBracketed());
  EXPECT_EQ(lines.meeting(), 1);
  EXPECT_EQ(lines.full->line.at(1), lines.fit->line.at(1));
}

TEST(LineSearch, TellsWhetherASideChanged) {
  LineSearch lines;
  EXPECT_TRUE(lines.add({0, {10, 20}}, false));
  EXPECT_FALSE(lines.add({1, {10, 20}}, false));
  EXPECT_EQ(lines.full->multiplier, 1);        // the last one stays
  EXPECT_TRUE(lines.add({1, {10, 20}}, true)); // new on its side
  EXPECT_TRUE(lines.add({2, {11, 20}}, false));
  EXPECT_TRUE(lines.add({2, {11, 19}}, false));
}

} // namespace
