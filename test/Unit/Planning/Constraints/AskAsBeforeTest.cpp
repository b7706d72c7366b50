//===- AskAsBeforeTest.cpp - A request that follows an old plan -----------===//

#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

PlanRequest requestFrom(PlanRequest request, const Plan &plan) {
  request.from = std::make_shared<OldPlan>(OldPlan{"old.json", plan});
  return request;
}

TEST(AskAsBefore, WhatIsOpenIsAsTheOldPlanHasIt) {
  ModelGraph graph = twoLayers(8);
  Plan old = cantFail(searchPlan(graph, requestOf(2, "data", "data=2")));
  PlanRequest asked =
      cantFail(askAsBefore(requestFrom(requestOf(2), old), graph));
  EXPECT_EQ(stringifyStrategies(asked.strategies), "data");
  ASSERT_EQ(asked.mesh.size(), 1u);
  EXPECT_EQ(asked.mesh.front().name, "data");
  EXPECT_EQ(asked.constraints.list.back().kind, Constraint::Kept);
  // Another number of devices has the axes alone.
  asked = cantFail(askAsBefore(requestFrom(requestOf(4), old), graph));
  EXPECT_TRUE(asked.mesh.empty());
  EXPECT_EQ(asked.axes.size(), 1u);
}

TEST(AskAsBefore, WhatIsAskedForCounts) {
  ModelGraph graph = twoLayers(8);
  Plan old = cantFail(searchPlan(graph, requestOf(2, "data", "data=2")));
  PlanRequest asked = cantFail(
      askAsBefore(requestFrom(requestOf(2, "column", "column=2"), old), graph));
  EXPECT_EQ(stringifyStrategies(asked.strategies), "column");
  EXPECT_EQ(asked.mesh.front().name, "column");
}

TEST(AskAsBefore, RefusesAPlanOfAnotherModel) {
  Plan old = cantFail(searchPlan(chainOf(5), requestOf(2)));
  std::string complaint = toString(
      askAsBefore(requestFrom(requestOf(2), old), twoLayers(8)).takeError());
  EXPECT_NE(complaint.find("--from old.json: a plan of another model"),
            std::string::npos)
      << complaint;
}

TEST(AskAsBefore, WithoutAnOldPlanNothingChanges) {
  PlanRequest asked = cantFail(askAsBefore(requestOf(4), twoLayers(8)));
  EXPECT_TRUE(asked.mesh.empty());
  EXPECT_TRUE(asked.constraints.empty());
}

} // namespace
