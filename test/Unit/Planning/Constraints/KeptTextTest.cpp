//===- KeptTextTest.cpp - What was kept of an old plan, in words ----------===//

#include "autopar/Planning/Constraints/KeptText.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// A plan that decides the same for the same request gets the old bound;
/// another one keeps its own.
TEST(KeptText, BoundsAreTakenFromEqualPlans) {
  ModelGraph graph = twoLayers(8);
  Plan old = cantFail(searchPlan(graph, requestOf(2)));
  Plan same = old;
  old.lowerBoundSeconds = old.predictedStepSeconds / 2;
  takeBound(same, old);
  EXPECT_EQ(same.lowerBoundSeconds, old.lowerBoundSeconds);
  Plan other = cantFail(searchPlan(graph, requestOf(2, "replicated", "")));
  double before = other.lowerBoundSeconds;
  takeBound(other, old);
  EXPECT_EQ(other.lowerBoundSeconds, before);
}

TEST(KeptText, NamesTheFileAndWhatIsKept) {
  ModelGraph graph = twoLayers(8);
  PlanRequest request = requestOf(2);
  Plan old = cantFail(searchPlan(graph, request));
  request.from = std::make_shared<OldPlan>(OldPlan{"old.json", old});
  request = cantFail(askAsBefore(request, graph));
  std::string text = describeKept(request, graph, old);
  EXPECT_NE(text.find("old.json"), std::string::npos) << text;
  EXPECT_NE(text.find("3"), std::string::npos) << text;
}

} // namespace
