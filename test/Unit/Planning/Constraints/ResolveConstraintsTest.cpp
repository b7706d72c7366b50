//===- ResolveConstraintsTest.cpp - Constraints that cannot be met --------===//

#include "autopar/Planning/Constraints/ResolveConstraints.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// What cannot be met names the constraint and what the op could do.
TEST(ResolveConstraints, DeadEndsOfConstraintsAreErrors) {
  ModelGraph graph = twoLayers(512);
  PlanRequest request = requestOf(2, "auto", "x=2");
  for (auto [list, message] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {R"([{"node": "node_r", "strategy": {"x": "split 7"}}])",
            "constraint 1 (node 'node_r')"},
           {R"([{"value": "h", "sharding": [["x"], []]},
                {"value": "h", "sharding": [[], ["x"]]}])",
            "as constraint 2 says"},
           {R"([{"value": "nothing", "sharding": [[]]}])",
            "no tensor of the model has this name"},
           {R"([{"value": "h", "sharding": [["z"], []]}])",
            "names axis 'z'; this mesh has 'x'"}}) {
    request.constraints = constraintsOf(list);
    std::string complaint = complaintOf(graph, request);
    EXPECT_NE(complaint.find(message), std::string::npos) << complaint;
  }
}

} // namespace
