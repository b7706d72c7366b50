//===- ClusterTest.cpp - Devices, links and cluster files -----------------===//

#include "autopar/Cluster/Cluster.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
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

TEST(Cluster, DriversNamesTellTheType) {
  for (auto [driverName, name] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {"NVIDIA H100 80GB HBM3 (sm_90, 132 multiprocessors)", "h100-80gb"},
           {"NVIDIA H100 PCIe", "h100-pcie"},
           {"NVIDIA GH200 480GB", "gh200"},
           {"NVIDIA H200", "h200"},
           {"NVIDIA A100-SXM4-40GB", "a100-40gb"},
           {"NVIDIA L40S", "l40s"},
           {"NVIDIA L4", "l4"}}) {
    std::optional<DeviceType> type = deviceOfDriverName(driverName);
    ASSERT_TRUE(type.has_value()) << driverName.str();
    EXPECT_EQ(type->name, name.str());
  }
  EXPECT_FALSE(deviceOfDriverName("NVIDIA L40"));
  EXPECT_FALSE(deviceOfDriverName("NVIDIA A100 80GB PCIe"));
  EXPECT_EQ(slowestLinkedGpu().within.kind, "pcie");
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

void expectError(StringRef text, StringRef part) {
  std::string error = errorOf(fromText(text));
  EXPECT_TRUE(StringRef(error).starts_with("cluster file test.json: "))
      << error;
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(Cluster, EveryMistakeInAFileIsNamed) {
  expectError("[]", "must be a JSON object with 'nodes' and 'links'");
  expectError("{}", "needs 'nodes', a list such as");
  expectError("{\"nodes\": []}", "needs 'nodes', a list such as");
  expectError("{\"nodes\": [1]}", "each of 'nodes' must be an object");
  expectError("{\"nodes\": [{}]}", "a node needs a 'type', for example");
  expectError("{\"nodes\": [{\"type\": \"z80\"}]}",
              "unknown device type 'z80'; known types: ");
  expectError("{\"nodes\": [{\"type\": \"cpu\", \"threads\": 2}]}",
              "unknown key 'threads'; known keys: count, type, devices, cores");
  expectError("{\"nodes\": [{\"type\": \"cpu\", \"cores\": 0}]}",
              "'cores' of a node must be an integer of 1 or more");
  expectError("{\"nodes\": [{\"type\": \"l4\", \"cores\": 2}]}",
              "'cores' are shared by ranks on processors: type 'l4' has none");
  expectError("{\"nodes\": [{\"type\": \"cpu\", \"devices\": 0}]}",
              "'devices' of a node must be an integer of 1 or more");
  expectError("{\"nodes\": [{\"type\": \"cpu\", \"count\": \"2\"}]}",
              "'count' of a node must be an integer of 1 or more");
}

constexpr const char *kMeasured =
    "{\"name\": \"mine\", \"kind\": \"gpu\", \"fp32_TF\": 50.25, \"tf32_TF\": "
    "400, \"fp16_TF\": 700, \"bf16_TF\": 710, \"mem_GB\": 80, \"mem_TBps\": 3, "
    "\"within\": \"nvlink\", \"within_GBps\": 450, \"within_us\": 3.4, "
    "\"between_GBps\": 50, \"between_us\": 14, \"gemm\": 1, \"memory\": 1, "
    "\"launch_us\": 2.5, \"measured\": {\"device\": \"A GPU\"}}";

TEST(Cluster, TypesInAFile) {
  Expected<Cluster> cluster =
      fromText(("{\"types\": [" + Twine(kMeasured) +
                "], \"nodes\": [{\"type\": \"mine\", \"devices\": 4}]}")
                   .str());
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  const DeviceType &type = cluster->slowest();
  EXPECT_EQ(type.fp32Flops, 50.25e12);
  EXPECT_DOUBLE_EQ(type.launchSeconds, 2.5e-6);
  EXPECT_EQ(cluster->withinNode.bytesPerSecond, 450e9);
  // A plan's cluster carries the type with it.
  json::Value text = toJSON(*cluster);
  Expected<Cluster> again = clusterFromJSON(text, "again");
  ASSERT_TRUE(bool(again)) << toString(again.takeError());
  EXPECT_EQ(toJSON(*again), text);
  EXPECT_EQ(again->slowest().bf16Flops, type.bf16Flops);
}

TEST(Cluster, LevelsOfLinks) {
  Expected<Cluster> read = fromText(R"({
    "nodes": [{"type": "a100-80gb", "count": 6, "devices": 8}],
    "links": [{"between": "nodes", "nodes": 3, "GBps": 40},
              {"within": "node", "kind": "pcie", "GBps": 25, "latency_us": 9},
              {"within": "node", "devices": 4, "kind": "pcie", "GBps": 50,
               "latency_us": 8},
              {"within": "node", "devices": 2, "GBps": 300}]})");
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  const Cluster &cluster = *read;
  SmallVector<double> rates;
  for (const Link &link : cluster.links())
    rates.push_back(link.bytesPerSecond / 1e9);
  EXPECT_EQ(rates, (SmallVector<double>{300, 50, 25, 40, 25}));
  EXPECT_EQ(cluster.links().front().kind, "nvlink");
  // Pairs, fours, a node, three nodes, all.
  EXPECT_EQ(cluster.linkBetween(2, 3), 0u);
  EXPECT_EQ(cluster.linkBetween(1, 2), 1u);
  EXPECT_EQ(cluster.linkBetween(3, 4), 2u);
  EXPECT_EQ(cluster.linkBetween(7, 8), 3u);
  EXPECT_EQ(cluster.linkBetween(0, 23), 3u);
  EXPECT_EQ(cluster.linkBetween(23, 24), 4u);
  // Devices of a part talk over the links that they do in the whole, also of a
  // part of it and of one that was written and read.
  auto rateOf = [](const Cluster &of, int64_t a, int64_t b) {
    return of.links()[of.linkBetween(a, b)].bytesPerSecond;
  };
  for (int64_t first : {0, 1, 2, 5, 11, 21, 24, 26})
    for (int64_t count : {2, 3, 4, 8, 13, 22}) {
      Cluster part = cluster.part(first, count);
      Expected<Cluster> again = clusterFromJSON(toJSON(part), "again");
      ASSERT_TRUE(bool(again)) << toString(again.takeError());
      for (int64_t a = 0; a < count; ++a)
        for (int64_t b = 0; b < count; ++b) {
          if (a == b)
            continue;
          double rate = rateOf(cluster, first + a, first + b);
          EXPECT_EQ(rateOf(part, a, b), rate) << first << " " << a << " " << b;
          EXPECT_EQ(rateOf(*again, a, b), rate) << first << " " << count;
          if (a > 0 && b > 0) {
            EXPECT_EQ(rateOf(part.part(1, count - 1), a - 1, b - 1), rate);
          }
        }
    }
  EXPECT_TRUE(cluster.part(2, 2).deviceGroups.empty());
  EXPECT_EQ(cluster.part(2, 2).withinNode.bytesPerSecond, 300e9);
  EXPECT_EQ(cluster.part(24, 24).betweenNodes.bytesPerSecond, 40e9);
  EXPECT_EQ(describe(cluster),
            "6x8:a100-80gb, nvlink 300.00 GB/s among 2 devices, pcie 50.00 "
            "GB/s among 4 devices, pcie 25.00 GB/s in a node, network 40.00 "
            "GB/s among 3 nodes, network 25.00 GB/s between nodes");
  json::Value text = toJSON(cluster);
  Expected<Cluster> again = clusterFromJSON(text, "again");
  ASSERT_TRUE(bool(again)) << toString(again.takeError());
  EXPECT_EQ(toJSON(*again), text);
}

TEST(Cluster, TypesOfFilesInTheShortForm) {
  SmallString<128> path;
  int descriptor;
  ASSERT_FALSE(
      sys::fs::createTemporaryFile("device", "json", descriptor, path));
  raw_fd_ostream(descriptor, true) << "{\"types\": [" << kMeasured
                                   << "], \"nodes\": [{\"type\": \"mine\"}]}";
  Expected<Cluster> cluster = parseCluster(("2x8:" + path + "@30").str());
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->deviceCount(), 16);
  EXPECT_EQ(cluster->slowest().name, "mine");
  EXPECT_EQ(cluster->betweenNodes.bytesPerSecond, 30e9);
  sys::fs::remove(path);
}

TEST(Cluster, KnownTypesComeBeforeFiles) {
  SmallString<128> before, folder;
  ASSERT_FALSE(sys::fs::current_path(before));
  ASSERT_FALSE(sys::fs::createUniqueDirectory("cluster", folder));
  ASSERT_FALSE(sys::fs::set_current_path(folder));
  ASSERT_FALSE(sys::fs::create_directory("h100-80gb"));
  ASSERT_FALSE(sys::fs::create_directory("mine"));
  std::error_code error;
  raw_fd_ostream("cpu", error) << "no JSON";
  Expected<Cluster> gpus = parseCluster("1x2:h100-80gb");
  Expected<Cluster> cpus = parseCluster("1x2:cpu");
  std::string unknown = errorOf(parseCluster("1x2:mine"));
  sys::fs::set_current_path(before);
  sys::fs::remove_directories(folder);
  EXPECT_TRUE(bool(gpus)) << toString(gpus.takeError());
  EXPECT_TRUE(bool(cpus)) << toString(cpus.takeError());
  EXPECT_NE(unknown.find("unknown device type 'mine'"), std::string::npos)
      << unknown;
}

TEST(Cluster, EveryMistakeInATypeIsNamed) {
  auto withType = [](StringRef from, StringRef to) {
    std::string type = kMeasured;
    type.replace(type.find(from.str()), from.size(), to.str());
    return "{\"types\": [" + type + "], \"nodes\": [{\"type\": \"mine\"}]}";
  };
  expectError("{\"types\": 1}", "'types' must be a list");
  expectError("{\"types\": [1]}", "each of 'types' must be an object");
  expectError(withType("\"name\"", "\"nom\""), "a type needs the text 'name'");
  expectError(withType("\"gpu\"", "\"tpu\""), "cpu or gpu, not 'tpu'");
  expectError(withType("\"within\": \"", "\"within\": \"un"),
              "'within' of a type must be one of nvlink,");
  expectError(withType("50.25", "\"fast\""), "a type needs 'fp32_TF'");
  expectError(withType("50.25", "0"), "'fp32_TF' of a type must be above 0");
  expectError(withType("\"gemm\": 1", "\"gemm\": 1, \"overlap\": 1.5"),
              "'overlap' of a type is a share, 0 to 1");
  expectError(withType("\"gemm\": 1", "\"gemm\": 1, \"x\": 1"),
              "unknown key 'x' of a type");
}

TEST(Cluster, EveryMistakeInALinkIsNamed) {
  auto withLink = [](StringRef link) {
    return ("{\"nodes\": [{\"type\": \"cpu\"}], \"links\": " + link + "}")
        .str();
  };
  expectError(withLink("1"), "'links' must be a list");
  expectError(withLink("[1]"), "each of 'links' must be an object");
  expectError(withLink("[{}]"), "a link is either {\"within\": \"node\"}");
  expectError(withLink("[{\"within\": \"rack\"}]"), "a link is either");
  expectError(withLink("[{\"within\": \"node\", \"between\": \"nodes\"}]"),
              "a link is either");
  expectError(withLink("[{\"within\": \"node\", \"speed\": 1}]"),
              "unknown key 'speed'; known keys: within, devices, kind, GBps");
  expectError(withLink("[{\"within\": \"node\", \"kind\": 1}]"),
              "'kind' of a link must be one of nvlink, nvswitch, pcie, "
              "shared-memory, network, infiniband, ethernet, efa, free");
  expectError(withLink("[{\"within\": \"node\", \"kind\": \"nvlnk\"}]"),
              "'kind' of a link must be one of nvlink,");
  expectError(withLink("[{\"within\": \"node\", \"kind\": \"pcie\"}]"),
              "a link of kind 'pcie' needs 'GBps': what is known of the "
              "cluster's devices is of kind 'shared-memory'");
  expectError(withLink("[{\"within\": \"node\", \"kind\": \"pcie\", "
                       "\"GBps\": 25}]"),
              "a link of kind 'pcie' needs 'latency_us'");
  expectError(withLink("[{\"within\": \"node\", \"GBps\": 0}]"),
              "'GBps' of a link must be a number above 0");
  expectError(withLink("[{\"within\": \"node\", \"GBps\": 1e-320}]"),
              "'GBps' of a link must be a number above 0, from 1e-9 to 1e9");
  expectError(withLink("[{\"within\": \"node\", \"latency_us\": 1e400}]"),
              "'latency_us' of a link must be a number of 0 or more");
  expectError(withLink("[{\"within\": \"node\", \"latency_us\": -1}]"),
              "'latency_us' of a link must be a number of 0 or more");
}

TEST(Cluster, NetworksHaveTheirLatencies) {
  Cluster cluster = cantFail(fromText(
      "{\"nodes\":[{\"count\":4,\"type\":\"b200\",\"devices\":8}],"
      "\"links\":[{\"between\":\"nodes\",\"kind\":\"efa\",\"GBps\":50}]}"));
  EXPECT_EQ(cluster.betweenNodes.kind, "efa");
  EXPECT_EQ(cluster.betweenNodes.latencySeconds,
            lookupNetwork("efa")->latencySeconds);
  EXPECT_FALSE(lookupNetwork("efa")->inOrder);
  EXPECT_FALSE(lookupNetwork("nvlink"));
}

TEST(Cluster, DescriptionsNameNetworks) {
  for (auto [description, kind] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {"EFA 8x50GB/s", "efa"},
           {"AWS P5en EFAv3", "efa"},
           {"4x25GB/s (HDR)", "infiniband"},
           {"RoCE 8x50GB/s", "ethernet"}}) {
    std::optional<Network> network = networkOfDescription(description);
    ASSERT_TRUE(network.has_value()) << description.str();
    EXPECT_EQ(network->kind, kind.str());
  }
  EXPECT_FALSE(networkOfDescription("8x25GB/s"));
}

TEST(Cluster, TypesKeepWhatTheirCollectivesCost) {
  DeviceType type = cantFail(lookupDevice("h200"));
  DeviceType again = cantFail(deviceFromJSON(toJSON(type), "test.json"));
  EXPECT_EQ(again.collectiveSeconds, type.collectiveSeconds);
  EXPECT_EQ(again.collectiveBytesPerSecond, type.collectiveBytesPerSecond);
  EXPECT_EQ(again.lowLatencyBytesPerSecond, type.lowLatencyBytesPerSecond);
  EXPECT_TRUE(again.switchesReduce);
}

TEST(Cluster, ShortFormsThatAreNone) {
  for (StringRef text :
       {"", "cpu", "2x2", "2x2:", "0x2:cpu", "2x-1:cpu", "2x2:cpu@",
        "2x2:cpu@0", "2x2:cpu@fast", "2000000x1:cpu", "2000x2000:cpu"})
    EXPECT_NE(errorOf(parseCluster(text)).find("NODESxDEVICES:TYPE[@GBps]"),
              std::string::npos)
        << text.str();
}

TEST(Cluster, MixedNodesWaitForTheSlowest) {
  Cluster cluster =
      cantFail(fromText("{\"nodes\":[{\"count\":2,\"type\":\"a100-80gb\","
                        "\"devices\":2},{\"type\":\"l4\",\"devices\":3},"
                        "{\"type\":\"v100-16gb\"}]}"));
  EXPECT_EQ(cluster.deviceCount(), 8);
  std::vector<int64_t> nodes;
  for (int64_t device = 0; device < 8; ++device)
    nodes.push_back(cluster.nodeOf(device));
  EXPECT_EQ(nodes, (std::vector<int64_t>{0, 0, 1, 1, 2, 2, 2, 3}));
  EXPECT_EQ(cluster.slowest().name, "v100-16gb");
  EXPECT_EQ(cluster.memoryBytes(), int64_t(16e9));
  EXPECT_EQ(cluster.betweenNodes.bytesPerSecond, 12.5e9);
  EXPECT_EQ(describe(cluster),
            "2x2:a100-80gb + 1x3:l4 + 1x1:v100-16gb, nvlink 150.00 GB/s in a "
            "node, network 12.50 GB/s between nodes");
}

TEST(Cluster, RanksShareCores) {
  Cluster cluster = cantFail(fromText(
      "{\"nodes\": [{\"type\": \"cpu\", \"devices\": 4, \"cores\": 3}, "
      "{\"type\": \"cpu\", \"devices\": 2, \"cores\": 2}]}"));
  DeviceType alone = cantFail(lookupDevice("cpu"));
  EXPECT_DOUBLE_EQ(cluster.slowest().fp32Flops, 0.75 * alone.fp32Flops);
  EXPECT_DOUBLE_EQ(cluster.slowest().memoryBytesPerSecond,
                   0.75 * alone.memoryBytesPerSecond);
  EXPECT_EQ(cluster.part(4, 2).slowest().fp32Flops, alone.fp32Flops);
  // A part of the ranks has its part of the cores.
  EXPECT_DOUBLE_EQ(cluster.part(0, 1).slowest().fp32Flops,
                   0.75 * alone.fp32Flops);
  // If but one or two such parts work at a time, it has more.
  EXPECT_EQ(cluster.part(0, 1, 2).slowest().fp32Flops, alone.fp32Flops);
  EXPECT_EQ(cluster.part(0, 2, 1).slowest().fp32Flops, alone.fp32Flops);
  EXPECT_DOUBLE_EQ(cluster.part(0, 2, 2).slowest().fp32Flops,
                   0.75 * alone.fp32Flops);
  Cluster again = cantFail(clusterFromJSON(toJSON(cluster), "again"));
  EXPECT_EQ(toJSON(again), toJSON(cluster));
  EXPECT_EQ(again.nodes.front().cores, 3);
  EXPECT_EQ(describe(cluster).find("1x4:cpu on 3 cores + 1x2:cpu on 2 cores, "),
            0u);
}

std::string nodesOf(const Cluster &cluster) {
  std::string text;
  for (const NodeGroup &group : cluster.nodes)
    text += std::to_string(group.count) + "x" + std::to_string(group.devices) +
            ":" + group.type.name + " ";
  return text;
}

TEST(Cluster, PartsAreOnTheNodesOfTheWhole) {
  Cluster cluster = cantFail(parseCluster("3x4:a100-80gb"));
  EXPECT_EQ(nodesOf(cluster.part(0, 12)), "3x4:a100-80gb ");
  EXPECT_EQ(nodesOf(cluster.part(5, 2)), "1x2:a100-80gb ");
  EXPECT_EQ(nodesOf(cluster.part(2, 4)), "1x2:a100-80gb 1x2:a100-80gb ");
  EXPECT_EQ(nodesOf(cluster.part(1, 10)),
            "1x3:a100-80gb 1x4:a100-80gb 1x3:a100-80gb ");
  llvm::append_range(cluster.nodes, cantFail(parseCluster("1x2:l4")).nodes);
  EXPECT_EQ(nodesOf(cluster.part(10, 3)), "1x2:a100-80gb 1x1:l4 ");
  for (int64_t first = 0; first < 14; ++first)
    for (int64_t count = 1; first + count <= 14; ++count) {
      Cluster part = cluster.part(first, count);
      ASSERT_EQ(part.deviceCount(), count);
      for (int64_t device = 0; device < count; ++device)
        EXPECT_EQ(part.nodeOf(device) - part.nodeOf(0),
                  cluster.nodeOf(first + device) - cluster.nodeOf(first));
    }
}

TEST(Cluster, FilesAreRead) {
  SmallString<128> path;
  int file;
  ASSERT_FALSE(sys::fs::createTemporaryFile("cluster", "json", file, path));
  {
    raw_fd_ostream os(file, /*shouldClose=*/true);
    os << "{\"nodes\": [{\"type\": \"cpu\", \"devices\": 5}]}";
  }
  EXPECT_EQ(cantFail(parseCluster(path)).deviceCount(), 5);
  std::error_code error;
  raw_fd_ostream(path, error) << "{\"nodes\": ";
  EXPECT_NE(errorOf(parseCluster(path)).find("is not JSON"), std::string::npos);
  sys::fs::remove(path);
}

} // namespace
