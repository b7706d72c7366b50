//===- GpuExecutableTest.cpp - Executables on the emulated GPU ------------===//

#include "BuiltGpuExecutable.h"

#include <dlfcn.h>

using namespace autopar::runtime;
using nlohmann::json;

namespace {

class GpuExecutableOnRanks : public GpuExecutable,
                             public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, GpuExecutableOnRanks,
                         ::testing::Values(1, 2, 4));

TEST_P(GpuExecutableOnRanks, ComputesTheSum) {
  int ranks = GetParam();
  buildGpu(gpuManifest(ranks), ranks);
  Outcome outcome = run("--inputs in.npz --outputs out.npz --repeat 5 "
                        "--warm-up 2 --json report.json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  expectSum(ranks);
  json report = json::parse(folder.read("report.json"));
  EXPECT_EQ(report["devices"].size(), size_t(ranks));
  EXPECT_NE(report["devices"][0], "");
  EXPECT_EQ(report["graphs_refused"][0], "");
  EXPECT_TRUE(report["compute_seconds"][0].is_null());
  for (const json &memory : report["memory_bytes"]) {
    EXPECT_EQ(memory["weights"], 5 * 7 * 4);
    EXPECT_EQ(memory["arena"], 512);
    EXPECT_GT(memory["pinned"], 0);
  }
  EXPECT_EQ(report["bytes_sent"][0].get<int64_t>() > 0, ranks > 1);
  // The first rank alone delivers the output, which all hold.
  EXPECT_EQ(report["output_bytes"][0], 6 * 7 * 4);
  EXPECT_EQ(report["output_bytes"][ranks - 1] == 0, ranks > 1);
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_GT(report["gpu_seconds"][rank].get<double>(), 0);
    EXPECT_GT(report["transfer_seconds"][rank].get<double>(), 0);
  }
}

TEST_P(GpuExecutableOnRanks, BringsOnlyOutputsThatAreAskedFor) {
  int ranks = GetParam();
  buildGpu(gpuManifest(ranks), ranks);
  Outcome outcome = run("--inputs in.npz --repeat 3 --json report.json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  json report = json::parse(folder.read("report.json"));
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(report["output_bytes"][rank], 0);
    EXPECT_GT(report["gpu_seconds"][rank].get<double>(), 0);
  }
}

TEST_P(GpuExecutableOnRanks, TracesWithoutGraphs) {
  int ranks = GetParam();
  buildGpu(gpuManifest(ranks), ranks);
  Outcome outcome =
      run("--inputs in.npz --outputs out.npz --repeat 3 --graphs off "
          "--trace trace.json --json report.json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  expectSum(ranks);
  json trace = json::parse(folder.read("trace.json"));
  // Each rank has its name and seven ops in each of three steps.
  EXPECT_EQ(trace["traceEvents"].size(), size_t(ranks * (1 + 7 * 3)));
  json report = json::parse(folder.read("report.json"));
  for (int rank = 0; rank < ranks; ++rank) {
    auto of = [&](const char *key) { return report[key][rank].get<double>(); };
    EXPECT_GE(of("exposed_communication_seconds"), 0);
    EXPECT_LE(of("exposed_communication_seconds"), of("communication_seconds"));
  }
  EXPECT_EQ(report["graphs_refused"][0], "--trace times every op");
}

TEST_F(GpuExecutable, AFaultNamesRankAndOp) {
  buildGpu(gpuManifest(2), 2, "MISBEHAVE");
  expectFailure(run("--inputs in.npz"),
                {"rank ", "out of bounds", "/increment"});
}

TEST_F(GpuExecutable, AMissingEventNamesBothOps) {
  buildGpu(gpuManifest(2), 2, "MISSING_EVENT");
  expectFailure(run("--inputs in.npz"),
                {"rank ", "race between streams", "of /sum' on stream 2",
                 "'increment of /increment' on stream 1 writes",
                 "record an event on stream 1"});
}

TEST_F(GpuExecutable, WorkThatDoesNotWaitForCommunicationIsNamed) {
  buildGpu(gpuManifest(2), 2, "MISSING_END");
  expectFailure(run("--inputs in.npz"),
                {"rank ", "race between streams",
                 "'increment of /increment' on stream 1", "of /sum' on "});
}

TEST_F(GpuExecutable, AMissingDriverIsSaid) {
  if (dlopen("libcuda.so.1", RTLD_NOW))
    GTEST_SKIP() << "this machine has a CUDA driver";
  json manifest = gpuManifest(1);
  manifest["target"] = "cuda";
  buildGpu(manifest, 1);
  expectFailure(run("--inputs in.npz"),
                {"no device: ", "libcuda.so.1",
                 "NVIDIA driver for CUDA 12.0 or newer", "install"});
}

TEST_F(GpuExecutable, TooFewGpusAreSaid) {
  buildGpu(gpuManifest(2), 2);
  expectFailure(run("--inputs in.npz", "AUTOPAR_EMULATED_DEVICES=1"),
                {"no device: ", "needs GPU 1 of its host, which has 1"});
}

} // namespace
