//===- KeepDecisionsTest.cpp - What still holds of an old plan ------------===//

#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// A request that keeps a plan of `tensor` on two ranks.
PlanRequest requestFrom(const ModelGraph &graph) {
  PlanRequest request = requestOf(2, "column", "column=2");
  Plan plan = cantFail(searchPlan(graph, request));
  request = requestOf(2);
  request.from = std::make_shared<OldPlan>(OldPlan{"old.json", plan});
  return cantFail(askAsBefore(request, graph));
}

TEST(KeepDecisions, AllOfTheSameModel) {
  ModelGraph graph = weightedLayers(8);
  PlanRequest request = requestFrom(graph);
  Mesh mesh({{"column", 2}});
  Limits limits = cantFail(demandedLimits(request, graph, mesh, 1));
  KeptDecisions kept = keepDecisions(request, graph, mesh, 1, limits);
  EXPECT_EQ(kept.ops, graph.ops.size());
  EXPECT_EQ(kept.newOps, 0u);
  EXPECT_TRUE(kept.dropped.empty());
  for (auto [limit, planned] : zip_equal(limits.ops, request.from->plan.ops))
    EXPECT_TRUE(limit.allows(planned.assignment));
}

/// An axis that is gone is told of, once for all ops.
TEST(KeepDecisions, TellsWhatIsDropped) {
  ModelGraph graph = weightedLayers(8);
  PlanRequest request = requestFrom(graph);
  Mesh mesh({{"other", 2}});
  Limits limits = cantFail(demandedLimits(request, graph, mesh, 1));
  KeptDecisions kept = keepDecisions(request, graph, mesh, 1, limits);
  ASSERT_FALSE(kept.dropped.empty());
  EXPECT_NE(kept.dropped.front().why.find("'column' is gone"),
            std::string::npos)
      << kept.dropped.front().why;
  EXPECT_GT(kept.dropped.front().count, 0u);
}

TEST(KeepDecisions, NothingWithoutAnOldPlan) {
  ModelGraph graph = weightedLayers(8);
  PlanRequest request = requestOf(2);
  Limits limits;
  KeptDecisions kept =
      keepDecisions(request, graph, Mesh({{"x", 2}}), 1, limits);
  EXPECT_EQ(kept.ops, 0u);
  EXPECT_TRUE(kept.dropped.empty());
}

} // namespace
