//===- EnumerateStrategiesTest.cpp - All legal ways to run an op ----------===//

#include "autopar/Planning/Constraints/EnumerateStrategies.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"
#include <set>

using namespace autopar;

namespace {

const ShardingRule &productRule() {
  static ModelGraph graph = twoLayers(8);
  return graph.ops[0].facts->rule;
}

/// Nothing, three factors, two partials to pass.
TEST(EnumerateStrategies, OfAProductOnOneAxis) {
  std::vector<OpStrategy> all =
      enumerateStrategies(productRule(), Mesh({{"x", 2}}), {});
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all.front().assignment, Assignment(1)); // it does the least
  std::set<std::pair<int, unsigned>> choices;
  for (const OpStrategy &strategy : all)
    choices.insert(
        {int(strategy.assignment[0].kind), strategy.assignment[0].index});
  EXPECT_EQ(choices.size(), all.size());
}

TEST(EnumerateStrategies, DemandsComeBeforeOtherChoices) {
  Choice rows{Choice::Split, 0};
  std::vector<OpStrategy> all =
      enumerateStrategies(productRule(), Mesh({{"x", 2}}), {{rows}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().assignment.front(), rows);
  // What cannot be met is not: three devices for ... 8 rows are legal blocks.
  EXPECT_EQ(enumerateStrategies(productRule(), Mesh({{"x", 2}}),
                                {{Choice{Choice::Split, 9}}})
                .size(),
            6u);
}

TEST(EnumerateStrategies, LimitsLeaveWhatTheyAllow) {
  OpLimit limit;
  limit.subAxes.resize(1);
  limit.subAxes[0].never = {Choice()};
  for (const OpStrategy &strategy :
       enumerateStrategies(productRule(), Mesh({{"x", 2}}), {}, limit))
    EXPECT_NE(strategy.assignment.front().kind, Choice::None);
  limit.subAxes[0].only = llvm::SmallVector<Choice, 2>{Choice()};
  EXPECT_TRUE(
      enumerateStrategies(productRule(), Mesh({{"x", 2}}), {}, limit).empty());
}

/// Micro-batches split what is parallel and pass no partials.
TEST(EnumerateStrategies, TimeOnlySplits) {
  std::vector<OpStrategy> all =
      enumerateStrategies(productRule(), Mesh({{kTimeAxis.str(), 2}}), {});
  EXPECT_EQ(all.size(), 3u); // nothing, rows, columns
}

} // namespace
