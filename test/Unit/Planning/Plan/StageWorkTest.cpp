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

/// A value is resharded in the stage that makes it, and sent as it is wanted.
TEST(StageWork, ReshardsBeforeItSends) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 4, 2);
  for (size_t op = 0; op < graph.ops.size(); ++op)
    plan.ops[op].stage = op == 0 ? 0 : 1;
  unsigned h = graph.ops[0].results[0];
  plan.values[h].sharding.dims[0].subAxes = {0};
  std::vector<StageWork> stages =
      workOfStages(graph, plan, /*listsContents=*/true);
  auto count = [&](int64_t stage, WorkKind kind) {
    return llvm::count_if(stages[stage].work.items, [&](const WorkItem &item) {
      return item.kind == kind;
    });
  };
  EXPECT_EQ(count(0, WorkKind::Collective), 1);
  EXPECT_EQ(count(1, WorkKind::Collective), 0);
  ASSERT_EQ(count(1, WorkKind::Recv), 1);
  const WorkItem &received =
      *llvm::find_if(stages[1].work.items, [](const WorkItem &item) {
        return item.kind == WorkKind::Recv;
      });
  EXPECT_EQ(stages[1].contents[received.writes[0]].sharding,
            Sharding::replicated(2));
}

/// A state whose next value is the state itself takes no copy.
TEST(StageWork, AStateStaysWithoutWork) {
  SmallModel model;
  unsigned x = model.input("x", {8, 64}), w = model.trained("w", {64, 64});
  ModelGraph graph = model.finish(model.matmul("y", x, w));
  size_t items =
      workOfStages(graph, replicatedPlan(graph, 1))[0].work.items.size();
  graph.stepResults.push_back(w);
  graph.states.push_back({w, w, unsigned(graph.stepResults.size() - 1)});
  StageWork work = workOfStages(graph, replicatedPlan(graph, 1)).front();
  EXPECT_EQ(work.work.items.size(), items);
  EXPECT_TRUE(work.plain.count(w));
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
