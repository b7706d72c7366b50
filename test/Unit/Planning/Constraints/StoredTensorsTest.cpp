//===- StoredTensorsTest.cpp - What entries of a program store ------------===//

#include "autopar/Planning/Constraints/StoredTensors.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// The second entry is asked for the first one's mesh and weights.
TEST(StoredTensors, LaterEntriesStoreAsTheFirst) {
  ModelGraph first = twoLayers(512), second = twoLayers(1);
  StoredTensors stored;
  EXPECT_TRUE(stored.empty());
  Plan plan = cantFail(searchPlan(first, requestOf(2)));
  stored.add("first", plan, first);
  EXPECT_FALSE(stored.empty());
  PlanRequest request = requestOf(2);
  request.stored = &stored;
  cantFail(stored.askForMesh(request));
  EXPECT_EQ(request.constraints.list.back().kind, Constraint::Stored);
  Plan later = cantFail(searchPlan(second, request));
  for (auto [a, b, value] : zip_equal(plan.values, later.values, first.values))
    if (value.persistent) {
      EXPECT_TRUE(a.sharding == b.sharding) << value.name;
    }
  EXPECT_EQ(toString(stored.checkStates(later, second)), "");
}

} // namespace
