//===- StageCountsTest.cpp - The memory of a stage ------------------------===//

#include "autopar/Planning/Plan/StageCounts.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// While a weight is packed both its forms are held, the largest first.
TEST(StageCounts, WeightsAreHeldTwiceWhileTheyArePacked) {
  StageMemory memory;
  memory.setWeights(/*plain=*/100, /*packed=*/{10, 40, 20},
                    /*copiesToPack=*/true);
  EXPECT_EQ(memory.weights, 170);
  EXPECT_EQ(memory.loading, 170); // 80 while the largest is packed
  memory.setWeights(/*plain=*/0, {40}, /*copiesToPack=*/true);
  EXPECT_EQ(memory.weights, 40);
  EXPECT_EQ(memory.loading, 80);
  memory.setWeights(/*plain=*/0, {40}, /*copiesToPack=*/false);
  EXPECT_EQ(memory.loading, 40);
}

/// The arena is there once weights are loaded, communication all the time.
TEST(StageCounts, PeakIsOfLoadingOrOfSteps) {
  StageMemory memory;
  memory.weights = 40;
  memory.loading = 80;
  memory.arena = 30;
  memory.communication = 5;
  EXPECT_EQ(memory.peak(), 85);
  memory.arena = 60;
  EXPECT_EQ(memory.peak(), 105);
}

/// Communicators of more devices need more staging memory.
TEST(StageCounts, StagingGrowsWithCommunicators) {
  Mesh mesh({{"x", 2}, {"y", 3}});
  StageMemory one, two;
  one.addStaging({{{0}, 4096}}, mesh);
  two.addStaging({{{0}, 4096}, {{1}, 4096}}, mesh);
  EXPECT_GT(one.communication, 4096);
  EXPECT_GT(two.communication, 2 * one.communication);
}

} // namespace
