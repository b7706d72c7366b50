//===- NcclCollectivesTest.cpp - Seconds between GPUs ---------------------===//
//
// Formulas by hand, with the constants of data/nccl.csv and of the device
// table: a hop of LL, LL128, Simple over NVLink is 0.6, 1.9, 3.4 parts of the
// link's latency over 3.4.
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Collectives.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace autopar;
using namespace llvm;

namespace {

constexpr double kMiB = 1 << 20;

Cluster cluster(StringRef spec) { return cantFail(parseCluster(spec)); }

/// Over all devices of nodes that are alike.
CommunicatorShape shapeOf(const Cluster &cluster) {
  int64_t nodes = cluster.nodes.front().count;
  int64_t perNode = cluster.deviceCount() / nodes;
  return {cluster.deviceCount(), nodes, perNode, perNode};
}

CollectiveAlgorithms algorithms(const Cluster &cluster, ReshardKind kind) {
  return collectiveAlgorithms(cluster, kind, shapeOf(cluster));
}

/// "ring Simple" of what is fastest.
std::string nameOf(const Cluster &cluster, ReshardKind kind, double bytes) {
  CollectiveAlgorithms all = algorithms(cluster, kind);
  const CollectiveAlgorithm &best = fastest(all, bytes);
  return (best.name + " " + best.protocol).str();
}

double secondsOf(const Cluster &cluster, ReshardKind kind, double bytes) {
  CollectiveAlgorithms all = algorithms(cluster, kind);
  return fastest(all, bytes).seconds(bytes);
}

TEST(NcclCollectives, ProtocolsChangeWithSize) {
  Cluster a100 = cluster("1x8:a100-80gb");
  EXPECT_EQ(nameOf(a100, ReshardKind::AllReduce, kMiB / 32), "ring LL");
  EXPECT_EQ(nameOf(a100, ReshardKind::AllReduce, 4 * kMiB), "ring LL128");
  EXPECT_EQ(nameOf(a100, ReshardKind::AllReduce, 1024 * kMiB), "ring Simple");
}

TEST(NcclCollectives, RingsGoRoundTwiceToReduce) {
  Cluster a100 = cluster("1x8:a100-80gb");
  const DeviceType &type = a100.slowest();
  double n = 1024 * kMiB, hop = a100.withinNode.latencySeconds;
  double launch = type.collectiveSeconds + 8.4e-6;
  double reduce = launch + 14 * hop +
                  n * (14. / 8 / a100.withinNode.bytesPerSecond +
                       1 / type.collectiveBytesPerSecond);
  EXPECT_NEAR(secondsOf(a100, ReshardKind::AllReduce, n), reduce,
              1e-9 * reduce);
  double gather = launch + 7 * hop +
                  n * (7. / 8 / a100.withinNode.bytesPerSecond +
                       0.5 / type.collectiveBytesPerSecond);
  for (ReshardKind kind : {ReshardKind::AllGather, ReshardKind::ReduceScatter})
    EXPECT_NEAR(secondsOf(a100, kind, n), gather, 1e-9 * gather);
}

TEST(NcclCollectives, SwitchesReduceWhereTheyCan) {
  double n = 1024 * kMiB;
  EXPECT_EQ(nameOf(cluster("1x8:h200"), ReshardKind::AllReduce, n),
            "nvls Simple");
  EXPECT_EQ(nameOf(cluster("1x2:h200"), ReshardKind::AllReduce, n),
            "ring Simple");
  EXPECT_EQ(nameOf(cluster("1x8:h200"), ReshardKind::AllGather, n),
            "ring Simple");
  EXPECT_EQ(nameOf(cluster("2x8:h200"), ReshardKind::AllReduce, 8 * n),
            "ring Simple");
  Cluster bridged = cluster("1x8:h200");
  bridged.withinNode.kind = "pcie";
  EXPECT_EQ(nameOf(bridged, ReshardKind::AllReduce, n), "ring Simple");
}

TEST(NcclCollectives, TreesBetweenNodesAreForSmallTensors) {
  Cluster nodes = cluster("16x8:a100-80gb");
  EXPECT_EQ(nameOf(nodes, ReshardKind::AllReduce, kMiB / 16).substr(0, 4),
            "tree");
  EXPECT_EQ(nameOf(nodes, ReshardKind::AllReduce, 4096 * kMiB), "ring Simple");
}

TEST(NcclCollectives, RingsBetweenNodesUseAllAdapters) {
  // 95% of 8 x 25 GB/s, all bytes twice round.
  Cluster nodes = cluster("2x8:a100-80gb");
  double n = 65536 * kMiB;
  double wire = 2. * 15 / 16 * n / (8 * 25e9 * 0.95);
  EXPECT_NEAR(secondsOf(nodes, ReshardKind::AllReduce, n), wire, 0.01 * wire);
}

TEST(NcclCollectives, NetworksOutOfOrderHaveNoLowLatencyProtocols) {
  Cluster nodes = cluster("4x8:b200");
  nodes.betweenNodes.kind = "efa";
  for (const CollectiveAlgorithm &algorithm :
       algorithms(nodes, ReshardKind::AllReduce))
    EXPECT_EQ(algorithm.protocol, "Simple");
  nodes.betweenNodes.kind = "infiniband";
  EXPECT_EQ(nameOf(nodes, ReshardKind::AllReduce, 1024), "tree LL");
}

TEST(NcclCollectives, ExchangesSendTheirOwnParts) {
  Cluster nodes = cluster("2x4:a100-80gb");
  double n = 4096 * kMiB, kernel = 0.5 / 530e9;
  double outside = n * (4. / 8 / (25e9 * 0.95) + kernel);
  EXPECT_NEAR(secondsOf(nodes, ReshardKind::AllToAll, n), outside,
              0.01 * outside);
  Cluster node = cluster("1x8:a100-80gb");
  double inside = n * (7. / 8 / 300e9 + kernel);
  EXPECT_NEAR(secondsOf(node, ReshardKind::AllToAll, n), inside, 0.01 * inside);
  EXPECT_LT(secondsOf(node, ReshardKind::Halo, kMiB),
            secondsOf(node, ReshardKind::AllGather, 8 * kMiB));
}

TEST(NcclCollectives, MessagesTakeTheirLink) {
  Cluster nodes = cluster("2x4:a100-80gb");
  CollectiveAlgorithms near = messageAlgorithms(nodes, nodes.withinNode);
  CollectiveAlgorithms far = messageAlgorithms(nodes, nodes.betweenNodes);
  double n = 1024 * kMiB, expected = n * (1 / 300e9 + 0.5 / 530e9);
  EXPECT_NEAR(fastest(near, n).seconds(n), expected, 0.02 * expected);
  EXPECT_EQ(fastest(near, 64).protocol, "LL");
  EXPECT_GT(fastest(far, n).seconds(n), 5 * fastest(near, n).seconds(n));
}

TEST(NcclCollectives, FreeLinksCostNothing) {
  Cluster nodes = cluster("2x1:a100-80gb");
  nodes.betweenNodes.free = true; // nothing goes over the link in a node
  EXPECT_EQ(secondsOf(nodes, ReshardKind::AllReduce, kMiB), 0);
}

TEST(NcclCollectives, ANodeOfOneDeviceHasOneAdapter) {
  Cluster nodes = cluster("5x1:a100-80gb");
  double alone = secondsOf(nodes, ReshardKind::AllGather, 4096 * kMiB);
  CommunicatorShape uneven{5, 2, 4, 1};
  CollectiveAlgorithms all =
      collectiveAlgorithms(nodes, ReshardKind::AllGather, uneven);
  EXPECT_NEAR(fastest(all, 4096 * kMiB).seconds(4096 * kMiB), alone,
              0.01 * alone);
}

TEST(NcclCollectives, MoreBytesTakeLonger) {
  for (StringRef spec : {"1x8:a100-80gb", "1x8:b200", "4x8:h100-80gb", "8x1:l4",
                         "1x4:rtx4090", "64x8:a100-80gb"})
    for (ReshardKind kind : {ReshardKind::AllReduce, ReshardKind::AllGather,
                             ReshardKind::ReduceScatter, ReshardKind::AllToAll,
                             ReshardKind::Halo}) {
      double before = 0;
      for (double bytes = 64; bytes < 1e11; bytes *= 2) {
        double seconds = secondsOf(cluster(spec), kind, bytes);
        EXPECT_TRUE(std::isfinite(seconds) && seconds >= before)
            << spec.str() << " " << stringifyReshardKind(kind).str() << " of "
            << bytes;
        before = seconds;
      }
    }
}

} // namespace
