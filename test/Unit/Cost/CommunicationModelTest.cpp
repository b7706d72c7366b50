//===- CommunicationModelTest.cpp - Seconds of collectives ----------------===//

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/Roofline.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

Cluster cluster(StringRef spec) { return cantFail(parseCluster(spec)); }

ReshardStep allReduce(SmallVector<unsigned, 2> subAxes, int64_t bytes) {
  ReshardStep step;
  step.kind = ReshardKind::AllReduce;
  step.subAxes = std::move(subAxes);
  step.bytes = bytes;
  return step;
}

TEST(CommunicationModel, PlacementFollowsTheMesh) {
  Mesh mesh({{"data", 2}, {"tensor", 4}});
  CommunicationModel model(cluster("2x4:a100-80gb"), mesh);
  ASSERT_EQ(model.shapesOf({0}).size(), 1u);
  CommunicatorShape data = model.shapesOf({0}).front(),
                    tensor = model.shapesOf({1, 2}).front();
  EXPECT_EQ(data.nodes, 2);
  EXPECT_EQ(data.ranksPerNode, 1);
  EXPECT_EQ(tensor.nodes, 1);
  EXPECT_EQ(tensor.ranksPerNode, 4);
}

/// Micro-batches follow each other on the same devices.
TEST(CommunicationModel, TimeHasNoDevices) {
  Mesh mesh({{"x", 4}, {"y", 2}});
  Mesh timed({{kTimeAxis.str(), 2}, {"x", 4}, {"y", 2}});
  Cluster nodes = cluster("4x2:a100-80gb");
  EXPECT_EQ(CommunicationModel(nodes, timed).shapesOf({1, 2}),
            CommunicationModel(nodes, mesh).shapesOf({0, 1}));
}

TEST(CommunicationModel, TheSlowestCommunicatorCounts) {
  // Of {0,1}, {2,3}, {4,5} on nodes of three, the second is on both.
  Mesh mesh({{"data", 3}, {"tensor", 2}});
  CommunicationModel straddling(cluster("2x3:a100-80gb"), mesh);
  CommunicationModel apart(cluster("6x1:a100-80gb"), mesh);
  EXPECT_EQ(straddling.shapesOf({1}).size(), 2u);
  EXPECT_EQ(straddling.seconds(allReduce({1}, 1 << 24)),
            apart.seconds(allReduce({1}, 1 << 24)));
}

TEST(CommunicationModel, LaterStagesHaveTheirOwnDevices) {
  Mesh mesh({{"tensor", 2}});
  Cluster all = cluster("2x3:a100-80gb");
  CommunicationModel first(all.part(0, 2), mesh);
  CommunicationModel second(all.part(2, 2), mesh);
  EXPECT_GT(second.seconds(allReduce({0}, 1 << 24)),
            first.seconds(allReduce({0}, 1 << 24)));
}

/// What lies in one group talks over its link, what does not over the next
/// larger one's.
TEST(CommunicationModel, GroupsHaveTheirOwnLinks) {
  Mesh mesh({{"x", 2}, {"y", 2}});
  Cluster pcie = cluster("1x4:a100-80gb");
  pcie.withinNode = {"pcie", 5e-6, 25e9, false};
  Cluster pairs = pcie;
  pairs.deviceGroups.push_back({2, cluster("1x4:a100-80gb").withinNode});
  CommunicationModel flat(pcie, mesh), fast(cluster("1x4:a100-80gb"), mesh),
      mixed(pairs, mesh);
  ReshardStep inner = allReduce({1}, 1 << 24), outer = allReduce({0}, 1 << 24),
              both = allReduce({0, 1}, 1 << 24);
  EXPECT_EQ(mixed.seconds(inner), fast.seconds(inner));
  EXPECT_EQ(mixed.seconds(outer), flat.seconds(outer));
  EXPECT_EQ(mixed.seconds(both), flat.seconds(both));
  Mesh one({{"x", 1}});
  CommunicationModel stages(pairs, one), near(cluster("1x4:a100-80gb"), one),
      far(pcie, one);
  EXPECT_EQ(stages.sendSeconds(1 << 20, 0, 1), near.sendSeconds(1 << 20, 0, 1));
  EXPECT_EQ(stages.sendSeconds(1 << 20, 1, 2), far.sendSeconds(1 << 20, 1, 2));
}

TEST(CommunicationModel, NodesAreDearerAndBytesCount) {
  Mesh mesh({{"data", 2}, {"tensor", 2}});
  CommunicationModel model(cluster("2x2:a100-80gb"), mesh);
  EXPECT_GT(model.seconds(allReduce({0}, 1 << 24)),
            model.seconds(allReduce({1}, 1 << 24)));
  EXPECT_GT(model.seconds(allReduce({1}, 1 << 26)),
            2 * model.seconds(allReduce({1}, 1 << 24)));
}

TEST(CommunicationModel, FreeLinksCostNothing) {
  Cluster free = cluster("1x4:cpu");
  free.withinNode.free = true;
  CommunicationModel model(free, Mesh({{"x", 4}}));
  EXPECT_EQ(model.seconds(allReduce({0, 1}, 1 << 30)), 0);
}

TEST(Roofline, TakesTheSlowerOfComputeAndMemory) {
  DeviceType device = cantFail(lookupDevice("a100-80gb"));
  KernelWork work;
  work.flops = 19.5e12 * 0.76;
  EXPECT_NEAR(kernelSeconds(device, work), 1, 1e-9);
  work.bytes = 2 * 2e12 * 0.92;
  EXPECT_NEAR(kernelSeconds(device, work), 2, 1e-9);
  device.overlap = 0.75; // a quarter of the second that is shorter
  EXPECT_NEAR(kernelSeconds(device, work), 2.25, 1e-9);
}

} // namespace
