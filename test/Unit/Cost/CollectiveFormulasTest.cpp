//===- CollectiveFormulasTest.cpp - Seconds between processors ------------===//

#include "autopar/Cost/CommunicationModel.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace autopar;
using namespace llvm;

namespace {

constexpr double kNear = 3e-6, kFar = 20e-6; // seconds per message
constexpr double kNearByte = 1 / 100e9, kFarByte = 1 / 10e9; // per byte
constexpr double kBytes = 6e6;

Cluster cluster(int64_t nodes, int64_t devices, StringRef within = "network") {
  Cluster result = cantFail(parseCluster(std::to_string(nodes) + "x" +
                                         std::to_string(devices) + ":cpu"));
  result.withinNode = {within.str(), kNear, 1 / kNearByte, false};
  result.betweenNodes = {"network", kFar, 1 / kFarByte, false};
  return result;
}

/// Seconds of a step over all devices.
double secondsOf(ReshardKind kind, const Cluster &cluster, double bytes) {
  Mesh mesh({{"x", cluster.deviceCount()}});
  ReshardStep step;
  step.kind = kind;
  for (unsigned subAxis = 0; subAxis < mesh.subAxes().size(); ++subAxis)
    step.subAxes.push_back(subAxis);
  step.bytes = int64_t(bytes);
  return CommunicationModel(cluster, mesh).seconds(step);
}
double secondsOf(ReshardKind kind, int64_t nodes, int64_t devices,
                 double bytes = kBytes) {
  return secondsOf(kind, cluster(nodes, devices), bytes);
}
double secondsInMemory(ReshardKind kind, int64_t devices,
                       double bytes = kBytes) {
  return secondsOf(kind, cluster(1, devices, "shared-memory"), bytes);
}

void expectSeconds(double found, double expected) {
  EXPECT_NEAR(found, expected, expected * 1e-9);
}

TEST(CollectiveFormulas, GatherAndScatterHalveOrGoRound) {
  for (ReshardKind kind :
       {ReshardKind::AllGather, ReshardKind::ReduceScatter}) {
    expectSeconds(secondsOf(kind, 1, 8),
                  3 * kNear + kBytes * 7 / 8 * kNearByte);
    expectSeconds(secondsOf(kind, 1, 6),
                  5 * kNear + kBytes * 5 / 6 * kNearByte);
    expectSeconds(secondsOf(kind, 1, 2), kNear + kBytes / 2 * kNearByte);
  }
}

TEST(CollectiveFormulas, AllReduceTakesTheCheaperAlgorithm) {
  // Large: scatter and gather. Small: doubling, log p messages of everything.
  expectSeconds(secondsOf(ReshardKind::AllReduce, 1, 6),
                2 * (5 * kNear + kBytes * 5 / 6 * kNearByte));
  expectSeconds(secondsOf(ReshardKind::AllReduce, 1, 6, 600),
                3 * (kNear + 600 * kNearByte));
}

TEST(CollectiveFormulas, AllToAllSendsToEveryOther) {
  expectSeconds(secondsOf(ReshardKind::AllToAll, 1, 4),
                3 * kNear + kBytes * 3 / 4 * kNearByte);
}

TEST(CollectiveFormulas, AcrossNodesEachDeviceSendsItsShare) {
  double near = 2 * kNear + kBytes * 3 / 4 * kNearByte;
  double far = kFar + kBytes / 4 / 2 * kFarByte;
  expectSeconds(secondsOf(ReshardKind::AllGather, 2, 4), near + far);
  expectSeconds(secondsOf(ReshardKind::ReduceScatter, 2, 4), near + far);
  double reduce = std::min(2 * far, kFar + kBytes / 4 * kFarByte);
  expectSeconds(secondsOf(ReshardKind::AllReduce, 2, 4), 2 * near + reduce);
  expectSeconds(secondsOf(ReshardKind::AllToAll, 2, 4),
                3 * kNear + kBytes * 3 / 4 * kNearByte + kFar +
                    kBytes / 2 * kFarByte);
}

TEST(CollectiveFormulas, MemoryMovesWhatIsReadAndWritten) {
  const double moved = kBytes * kNearByte / 4;
  // Of two ranks each sends a half, at the rate of the link.
  expectSeconds(secondsInMemory(ReshardKind::AllGather, 2),
                kNear + kBytes / 2 * kNearByte);
  // A quarter, the three quarters of the others, and all of the result.
  expectSeconds(secondsInMemory(ReshardKind::AllGather, 4), kNear + moved * 2);
  // All, the quarters of three others, and a quarter of the result.
  expectSeconds(secondsInMemory(ReshardKind::ReduceScatter, 4),
                kNear + moved * 2);
  expectSeconds(secondsInMemory(ReshardKind::AllToAll, 4),
                kNear + moved * 2.75);
  // Little: all that the others gave. Much: a slice of it, and their slices.
  expectSeconds(secondsInMemory(ReshardKind::AllReduce, 2), kNear + moved * 3);
  expectSeconds(secondsInMemory(ReshardKind::AllReduce, 5),
                2 * kNear + moved * 3.6);
  expectSeconds(secondsInMemory(ReshardKind::AllReduce, 5, 600),
                kNear + 600 * kNearByte / 4 * 6);
}

TEST(CollectiveFormulas, MemoryAndTheNetworkAddUp) {
  Cluster nodes = cluster(2, 4, "shared-memory");
  double far = kFar + kBytes / 4 / 2 * kFarByte;
  expectSeconds(secondsOf(ReshardKind::AllGather, nodes, kBytes),
                secondsInMemory(ReshardKind::AllGather, 4) + far);
  expectSeconds(secondsOf(ReshardKind::AllReduce, nodes, kBytes),
                secondsInMemory(ReshardKind::AllReduce, 4) +
                    std::min(2 * far, kFar + kBytes / 4 * kFarByte));
}

TEST(CollectiveFormulas, WhoSharesACoreWaitsForHisTurn) {
  Cluster shared = cluster(1, 4, "shared-memory");
  shared.nodes[0].cores = 2;
  expectSeconds(secondsOf(ReshardKind::AllToAll, shared, kBytes),
                2 * secondsInMemory(ReshardKind::AllToAll, 4));
}

TEST(CollectiveFormulas, HaloIsOneMessageEachWay) {
  expectSeconds(secondsOf(ReshardKind::Halo, 1, 4, 1000),
                2 * kNear + 1000 * kNearByte);
  expectSeconds(secondsOf(ReshardKind::Halo, 2, 2, 1000),
                2 * kFar + 1000 * kFarByte);
}

TEST(CollectiveFormulas, LocalStepsReadAndWrite) {
  DeviceType device = cantFail(lookupDevice("cpu"));
  expectSeconds(
      secondsOf(ReshardKind::SliceBlock, 2, 4),
      device.launchSeconds +
          2 * kBytes / (device.memoryBytesPerSecond * device.memoryEfficiency));
}

TEST(CollectiveFormulas, SendsTakeTheLinkBetweenTheStages) {
  // Stages of two devices on nodes of four: 0 and 1 share a node, 1 and 2 not.
  CommunicationModel model(cluster(2, 4), Mesh({{"x", 2}}));
  expectSeconds(model.sendSeconds(1000, 0, 1), kNear + 1000 * kNearByte);
  expectSeconds(model.sendSeconds(1000, 1, 2), kFar + 1000 * kFarByte);
}

} // namespace
