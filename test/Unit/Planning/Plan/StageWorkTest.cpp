//===- StageWorkTest.cpp - What a stage runs and holds --------------------===//

#include "autopar/Planning/Plan/StageWork.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

TEST(StageWork, ListsOpsAndMessagesOfEachStage) {
  ModelGraph graph = twoLayers(8);
  std::vector<StageWork> one = workOfStages(graph, replicatedPlan(graph, 1));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].work.items.size(), 3u);
  EXPECT_EQ(one[0].channelBytes, 0);
  std::vector<StageWork> three =
      workOfStages(graph, replicatedPlan(graph, 3, 3));
  ASSERT_EQ(three.size(), 3u);
  EXPECT_GT(three[0].channelBytes, 0); // it sends
  EXPECT_GT(three[2].channelBytes, 0); // it receives
}

TEST(StageWork, ListsContentsWhereAsked) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 1);
  EXPECT_TRUE(workOfStages(graph, plan).front().contents.empty());
  StageWork work = workOfStages(graph, plan, /*listsContents=*/true).front();
  ASSERT_EQ(work.contents.size(), work.work.buffers.size());
  unsigned y = graph.stepResults.front();
  ASSERT_TRUE(work.places[y]);
  EXPECT_EQ(work.contents[*work.places[y]].value, y);
}

} // namespace
