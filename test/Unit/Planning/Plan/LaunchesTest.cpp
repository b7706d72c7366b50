//===- LaunchesTest.cpp - How a plan's kernel groups are launched ---------===//

#include "autopar/Planning/Plan/Launches.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// One launch of a product and the function of its elements, which a border of
/// stages cuts in two.
TEST(Launches, AreCutByStages) {
  ModelGraph graph = twoLayers(8);
  graph.steps[0].ops = {0, 1};
  graph.steps[0].root = 1;
  graph.steps.erase(graph.steps.begin() + 1);
  for (auto [stages, launches] : {std::pair(1, 2u), {3, 3u}}) {
    Plan plan = replicatedPlan(graph, stages, stages);
    PlannedReshards reshards(graph, plan);
    LaunchList list(graph, plan, reshards);
    EXPECT_EQ(list.all().size(), launches) << stages;
    EXPECT_EQ(list.all().back().stage, stages - 1);
  }
}

/// What stays inside a launch is not stored.
TEST(Launches, StoreWhatOthersRead) {
  ModelGraph graph = twoLayers(8);
  graph.steps[0].ops = {0, 1};
  graph.steps[0].root = 1;
  graph.steps.erase(graph.steps.begin() + 1);
  Plan plan = replicatedPlan(graph, 1);
  PlannedReshards reshards(graph, plan);
  LaunchList list(graph, plan, reshards);
  std::vector<bool> stored = list.storedValues();
  EXPECT_FALSE(stored[graph.ops[0].results[0]]);
  EXPECT_TRUE(stored[graph.ops[1].results[0]]);
  EXPECT_TRUE(stored[graph.ops[2].results[0]]);
  EXPECT_TRUE(list.isComputed(graph.ops[0].results[0]));
  EXPECT_FALSE(list.isComputed(graph.ops[0].operands[0]));
}

} // namespace
