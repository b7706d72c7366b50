//===- MeasuredClusterTest.cpp - Measurements as a cluster file -----------===//

#include "autopar/Cluster/MeasuredCluster.h"
#include "autopar/Cluster/Cluster.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

json::Object measuredCpu() {
  return json::Object{{"kind", "cpu"},   {"device", "Some CPU (avx2)"},
                      {"count", 4},      {"fp32_TF", 0.25},
                      {"mem_GB", 8},     {"mem_TBps", 0.0625},
                      {"launch_us", 2},  {"overlap", 0.5},
                      {"within_GBps", 3}};
}

TEST(MeasuredCluster, IsAClusterFileWithWhatWasMeasured) {
  std::vector<std::string> notes;
  Expected<json::Value> file =
      measuredCluster(json::Array{measuredCpu()}, notes);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  Expected<Cluster> cluster = clusterFromJSON(*file, "measured.json");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->deviceCount(), 4);
  DeviceType type = cluster->slowest();
  EXPECT_EQ(type.name, "some-cpu");
  EXPECT_EQ(type.fp32Flops, 0.25e12);
  EXPECT_EQ(type.memoryBytes, int64_t(8e9));
  EXPECT_EQ(type.memoryBytesPerSecond, 62.5e9);
  EXPECT_EQ(type.launchSeconds, 2e-6);
  EXPECT_EQ(type.overlap, 0.5);
  EXPECT_EQ(cluster->withinNode.bytesPerSecond, 3e9);
  EXPECT_TRUE(notes.empty());
}

TEST(MeasuredCluster, NodesHaveTheLastTypeAndGuessesAreNoted) {
  json::Object gpu = measuredCpu();
  gpu["kind"] = "gpu";
  gpu["device"] = "NVIDIA Unheard-of 9 (sm_200)";
  gpu["count"] = 2;
  gpu.erase("within_GBps");
  std::vector<std::string> notes;
  Expected<json::Value> file =
      measuredCluster(json::Array{measuredCpu(), std::move(gpu)}, notes);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  Expected<Cluster> cluster = clusterFromJSON(*file, "measured.json");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->deviceCount(), 2);
  EXPECT_EQ(cluster->slowest().name, "nvidia-unheard-of-9");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes.front().find("'NVIDIA Unheard-of 9"), std::string::npos);
}

TEST(MeasuredCluster, NothingMeasuredIsAnError) {
  std::vector<std::string> notes;
  for (const json::Value &none :
       {json::Value(json::Array{}), json::Value(json::Object{})}) {
    Expected<json::Value> file = measuredCluster(none, notes);
    EXPECT_FALSE(bool(file));
    consumeError(file.takeError());
  }
}

} // namespace
