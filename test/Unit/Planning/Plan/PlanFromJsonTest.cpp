//===- PlanFromJsonTest.cpp - From JSON to a plan -------------------------===//

#include "autopar/Planning/Plan/PlanFromJson.h"
#include "Plans.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::string complaintOf(json::Value value) {
  Expected<Plan> plan = planFromJSON(value, "plan.json");
  return plan ? "" : toString(plan.takeError());
}

TEST(PlanFromJson, ReadsWhatIsWritten) {
  ModelGraph graph = twoLayers(8);
  Plan plan = replicatedPlan(graph, 4, 2);
  plan.ops[0].assignment.front() = Choice{Choice::Split, 0};
  plan.ops[1].regathers = {0, 2};
  plan.values[0].sharding.dims[0].subAxes = {0};
  json::Value written = toJSON(plan);
  Plan read = cantFail(planFromJSON(written, "plan.json"));
  EXPECT_EQ(toJSON(read), written);
  EXPECT_EQ(toString(alignWith(read, graph)), "");
  EXPECT_TRUE(read.ops[0].assignment == plan.ops[0].assignment);
  EXPECT_EQ(read.ops[1].regathers, plan.ops[1].regathers);
  EXPECT_TRUE(read.values[0].sharding == plan.values[0].sharding);
}

TEST(PlanFromJson, RefusesByNameAndPlace) {
  json::Value written = toJSON(replicatedPlan(twoLayers(8), 2));
  json::Object object = *written.getAsObject();
  object["format"] = kPlanFormat + 1;
  EXPECT_EQ(complaintOf(std::move(object)),
            "plan file plan.json: 'format' must be 1 to 2: plan again with "
            "this version of autopar");
  object = *written.getAsObject();
  object.erase("mesh");
  EXPECT_NE(complaintOf(std::move(object)).find("needs 'mesh'"),
            std::string::npos);
  object = *written.getAsObject();
  object["stages"] = 0;
  EXPECT_NE(complaintOf(std::move(object)).find("'stages' must be an integer"),
            std::string::npos);
  EXPECT_NE(complaintOf(json::Array()), "");
}

TEST(PlanFromJson, RefusesRegathersThatAreNoNumbers) {
  json::Value written = toJSON(replicatedPlan(twoLayers(8), 2));
  for (json::Value wrong :
       {json::Value(1), json::Value(json::Array()),
        json::Value(json::Array({"x"})), json::Value(json::Array({-1}))}) {
    json::Object object = *written.getAsObject();
    (*(*object.getObject("ops")).getObject("node_h"))["regathers"] = wrong;
    EXPECT_EQ(complaintOf(std::move(object)),
              "plan file plan.json: op 'node_h': 'regathers' takes numbers of "
              "operands such as [1]");
  }
}

} // namespace
