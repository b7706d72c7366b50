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

Cluster cluster(int64_t nodes, int64_t devices) {
  Cluster result = cantFail(parseCluster(std::to_string(nodes) + "x" +
                                         std::to_string(devices) + ":cpu"));
  result.withinNode = {"shared-memory", kNear, 1 / kNearByte, false};
  result.betweenNodes = {"network", kFar, 1 / kFarByte, false};
  return result;
}

/// Seconds of a step over all devices.
double secondsOf(ReshardKind kind, int64_t nodes, int64_t devices,
                 double bytes = kBytes) {
  Mesh mesh({{"x", nodes * devices}});
  ReshardStep step;
  step.kind = kind;
  for (unsigned subAxis = 0; subAxis < mesh.subAxes().size(); ++subAxis)
    step.subAxes.push_back(subAxis);
  step.bytes = int64_t(bytes);
  return CommunicationModel(cluster(nodes, devices), mesh).seconds(step);
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
