//===- MessagesTest.cpp - What stages send each other ---------------------===//

#include "autopar/Planning/Plan/Messages.h"
#include "Plans.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// h goes to the second stage and r to the third; weights are not sent.
TEST(Messages, GoToLaterStages) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 3, 3);
  CommunicationModel communication(plan.cluster, plan.mesh);
  std::vector<StageMessage> messages = messagesOf(graph, plan, communication);
  ASSERT_EQ(messages.size(), 2u);
  for (int64_t from : {0, 1}) {
    EXPECT_EQ(messages[from].from, from);
    EXPECT_EQ(messages[from].to, from + 1);
    EXPECT_EQ(messages[from].bytes, 8 * 256 * 4);
    EXPECT_GT(messages[from].seconds, 0);
  }
}

/// Two readers of one stage share a message; wanted in two ways it goes twice.
TEST(Messages, AreSentOncePerWantedSharding) {
  SmallModel model;
  unsigned x = model.elementwise("x1", model.input("x", {8, 64}));
  ModelGraph graph =
      model.finish(model.matmul("y", x, model.parameter("w", {64, 64})));
  graph.values[x].uses.push_back(graph.values[x].uses.front());
  Plan plan = replicatedPlan(graph, 4, 2);
  CommunicationModel communication(plan.cluster, plan.mesh);
  EXPECT_EQ(messagesOf(graph, plan, communication).size(), 1u);
  unsigned readers = 0;
  auto wanted = [&](const GraphUse &) {
    WantedSharding way{Sharding::replicated(2), {}};
    if (readers++ > 0)
      way.sharding.dims[0].subAxes = {0};
    return way;
  };
  EXPECT_EQ(messagesOf(graph, plan, communication, wanted).size(), 2u);
}

} // namespace
