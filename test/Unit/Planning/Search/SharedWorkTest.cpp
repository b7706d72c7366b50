//===- SharedWorkTest.cpp - What problems of a graph have in common -------===//

#include "autopar/Planning/Search/SharedWork.h"
#include "Meshes.h"
#include "lib/Planning/Search/Trials.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// Free axes demand nothing, whatever their sizes.
TEST(SharedWork, KeepsDemandsByTheNamesOfAxes) {
  ModelGraph graph = twoLayers(512);
  SharedWork shared;
  auto demands = [&](StringRef mesh, StrategyName first) {
    Trial trial{cantFail(clusterOfRanks(8)), freeMesh(mesh)};
    trial.candidate.names.front() = first;
    return &cantFail(demandsOf(graph, trial, shared));
  };
  EXPECT_EQ(demands("x=4,y=2", StrategyName::Auto),
            demands("x=2,y=4", StrategyName::Auto));
  EXPECT_EQ(demands("data=4,y=2", StrategyName::Data),
            demands("data=4,y=2", StrategyName::Data));
  EXPECT_NE(demands("data=4,y=2", StrategyName::Data),
            demands("data=2,y=4", StrategyName::Data));
}

} // namespace
