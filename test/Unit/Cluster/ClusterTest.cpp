//===- ClusterTest.cpp ----------------------------------------------------===//

#include "autopar/Cluster/Cluster.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::string errorOf(Expected<Cluster> cluster) {
  return cluster ? "" : toString(cluster.takeError());
}

Expected<Cluster> fromText(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  return clusterFromJSON(*value, "test.json");
}

TEST(Cluster, RanksAreCpusOnOneNode) {
  Expected<Cluster> cluster = clusterOfRanks(3);
  ASSERT_TRUE(bool(cluster));
  EXPECT_EQ(cluster->deviceCount(), 3);
  EXPECT_EQ(cluster->nodeOf(2), 0);
  EXPECT_NE(errorOf(clusterOfRanks(0)), "");
}

TEST(Cluster, ShortForm) {
  Expected<Cluster> cluster = parseCluster("2x8:a100-80gb");
  ASSERT_TRUE(bool(cluster));
  EXPECT_EQ(cluster->deviceCount(), 16);
  EXPECT_EQ(cluster->nodeOf(7), 0);
  EXPECT_EQ(cluster->nodeOf(8), 1);
  EXPECT_EQ(cluster->betweenNodes.bytesPerSecond, 25e9);
  EXPECT_EQ(cluster->slowest().tf32Flops, 156e12);
  cluster = parseCluster("1x2:cpu@3.5");
  ASSERT_TRUE(bool(cluster));
  EXPECT_EQ(cluster->betweenNodes.bytesPerSecond, 3.5e9);
}

TEST(Cluster, ErrorsTeach) {
  EXPECT_NE(errorOf(parseCluster("2x8:a200")).find("known types: v100-32gb"),
            std::string::npos);
  EXPECT_NE(errorOf(parseCluster("2y8")).find("NODESxDEVICES:TYPE"),
            std::string::npos);
  EXPECT_NE(errorOf(fromText("{\"node\": []}")).find("known keys: nodes"),
            std::string::npos);
  EXPECT_NE(errorOf(fromText("{\"nodes\": [{\"type\": 3}]}")).find("'type'"),
            std::string::npos);
}

TEST(Cluster, FileKeepsWhatItSays) {
  Expected<Cluster> cluster = fromText(
      "{\"nodes\":[{\"count\":2,\"type\":\"h100-80gb\",\"devices\":8}],"
      "\"links\":[{\"within\":\"node\",\"kind\":\"free\"},"
      "{\"between\":\"nodes\",\"GBps\":40,\"latency_us\":5}]}");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_TRUE(cluster->withinNode.free);
  EXPECT_EQ(cluster->betweenNodes.bytesPerSecond, 40e9);
  Expected<Cluster> again = clusterFromJSON(toJSON(*cluster), "again");
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(describe(*again), describe(*cluster));
}

} // namespace
