//===- CheckConstraintsTest.cpp - Plans that meet constraints -------------===//

#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(CheckConstraints, ConstraintsAreMetAndCostNoLess) {
  ModelGraph graph = twoLayers(512);
  PlanRequest request = requestOf(2);
  Plan free = cantFail(searchPlan(graph, request));
  for (StringRef list :
       {R"([{"value": "w1", "sharding": [[], ["all"]]}])",
        R"([{"value": "x", "sharding": [["all"], []], "forbid": true}])",
        R"([{"node": "node_y", "strategy": {"all": "split 1"}}])",
        R"([{"node": "*", "strategy": {"all": "replicated"}}])"}) {
    request.constraints = constraintsOf(list);
    Plan plan = cantFail(searchPlan(graph, request));
    EXPECT_EQ(toString(verify(plan, graph, request.constraints)), "")
        << list.str();
    EXPECT_GE(plan.predictedStepSeconds, free.predictedStepSeconds * (1 - 1e-9))
        << list.str();
  }
}

TEST(CheckConstraints, MeshesOfConstraints) {
  ModelGraph graph = twoLayers(512);
  PlanRequest request = requestOf(4);
  request.constraints = constraintsOf(R"([{"mesh": "a=2,b=2"}])");
  EXPECT_EQ(cantFail(searchPlan(graph, request)).mesh,
            Mesh({{"a", 2}, {"b", 2}}));
  request.constraints = constraintsOf(R"([{"mesh": "x=4", "forbid": true}])");
  EXPECT_EQ(cantFail(searchPlan(graph, request)).mesh.axes().size(), 2u);
  request.constraints = constraintsOf(
      R"([{"mesh": "x=4", "forbid": true}, {"mesh": "x=2,y=2", "forbid": true}])");
  EXPECT_GT(cantFail(searchPlan(graph, request)).stages, 1);
  request.mesh = {{"x", 4}};
  EXPECT_EQ(complaintOf(graph, request),
            "constraints file demands.json: no mesh is left: each is "
            "forbidden, or --mesh and the constraints differ");
  request.mesh.clear();
  request.constraints = constraintsOf(R"([{"mesh": "a=4"}, {"mesh": "b=4"}])");
  EXPECT_EQ(complaintOf(graph, request),
            "constraints file demands.json: constraint 2 (mesh): constraint 1 "
            "pins another mesh");
}

} // namespace
