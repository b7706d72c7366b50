//===- ConstraintsTest.cpp - Constraints as users write them --------------===//

#include "autopar/Planning/Constraints/Constraints.h"
#include "test/Unit/Planning/Requests.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::string complaintOf(StringRef list) {
  Expected<Constraints> read = constraintsFromJSON(
      cantFail(json::parse("{\"constraints\": " + list.str() + "}")),
      "demands.json");
  return read ? "" : toString(read.takeError());
}

TEST(Constraints, ReadsPatterns) {
  Constraints read = constraintsOf(
      R"([{"value": "w*", "sharding": [["data"], "*", []], "forbid": true},
          {"node": "fc", "strategy": {"x": "split 1"}, "stage": 2},
          {"mesh": "a=2,layer=3"}])");
  ASSERT_EQ(read.list.size(), 3u);
  const Constraint &value = read.list[0];
  EXPECT_EQ(value.kind, Constraint::Value);
  EXPECT_TRUE(value.forbid);
  EXPECT_EQ(value.number, 1u);
  ASSERT_EQ(value.sharding->dims.size(), 3u);
  EXPECT_EQ(value.sharding->dims[0].axes.front(), "data");
  EXPECT_EQ(value.sharding->dims[1].kind, DimPattern::Any);
  EXPECT_TRUE(value.sharding->dims[2].axes.empty());
  EXPECT_EQ(read.list[1].strategy.front().second, "split 1");
  EXPECT_EQ(read.list[1].stage, 2);
  EXPECT_EQ(read.list[2].mesh.back().size, 3);
}

TEST(Constraints, ComplaintsNameFileAndConstraint) {
  std::string complaint = complaintOf(R"([{"value": "w"}])");
  EXPECT_NE(complaint.find("demands.json"), std::string::npos) << complaint;
  EXPECT_NE(complaint.find("constraint 1"), std::string::npos) << complaint;
  EXPECT_NE(complaintOf(R"([{"mesh": "a"}])"), "");
  EXPECT_NE(complaintOf(R"([{"node": "n", "stagee": 1}])").find("stage"),
            std::string::npos);
}

} // namespace
