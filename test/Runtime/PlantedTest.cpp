//===- PlantedTest.cpp - Hosts whose driver or libraries do not fit -------===//

#include "emulated/Planted.h"
#include "BuiltGpuExecutable.h"
#include "ConvProblem.h"
#include "EmulatedGpu.h"
#include "GemmProblem.h"
#include "cpu/NaiveConv.h"
#include "cuda/CudaConv.h"
#include "cuda/CudaGemm.h"
#include "emulated/EmulatedCublasLt.h"
#include "emulated/EmulatedCudnn.h"
#include "emulated/EmulatedNccl.h"
#include "emulated/Fault.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

using namespace autopar::runtime;
using nlohmann::json;

namespace {

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

using PlantedExecutable = GpuExecutable;

TEST_F(PlantedExecutable, KernelsThatTheDriverRefusesComeFromPtx) {
  buildGpu(gpuManifest(1), 1);
  for (const char *error : {"200", "209", "218", "222"}) {
    Outcome outcome =
        run("--inputs in.npz --outputs out.npz --json report.json",
            std::string("AUTOPAR_EMULATED_PLANT=image=") + error);
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    expectSum(1);
    EXPECT_NE(outcome.text.find("the driver compiled the kernels from PTX: "
                                "cuModuleLoadData failed"),
              std::string::npos)
        << outcome.text;
    json report = json::parse(folder.read("report.json"));
    EXPECT_NE(report["cubins_refused"][0], "");
  }
}

TEST_F(PlantedExecutable, KernelsThatCannotBeLoadedAreSaid) {
  buildGpu(gpuManifest(1), 1);
  expectFailure(
      run("--inputs in.npz", "AUTOPAR_EMULATED_PLANT=image=209,ptx=222"),
      {"no kernels for this autopar emulated GPU",
       "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
       "install a newer driver"});
  // Another error is no refusal.
  expectFailure(run("--inputs in.npz", "AUTOPAR_EMULATED_PLANT=image=2"),
                {"CUDA_ERROR_OUT_OF_MEMORY"});
  buildGpu(gpuManifest(1), 1, "NO_PTX");
  expectFailure(run("--inputs in.npz", "AUTOPAR_EMULATED_PLANT=image=200"),
                {"no kernels for this", "CUDA_ERROR_INVALID_IMAGE"});
}

TEST_F(PlantedExecutable, AnNcclOfANewerCudaThanTheDriverIsSaid) {
  buildGpu(gpuManifest(2), 2);
  expectFailure(run("--inputs in.npz", "AUTOPAR_EMULATED_PLANT=driver=12040"),
                {"NCCL is made for CUDA 13, but the driver is for CUDA 12",
                 "nvidia-nccl-cu12"});
  Outcome outcome = run("--inputs in.npz --outputs out.npz",
                        "AUTOPAR_EMULATED_PLANT=driver=12040,nccl-cuda=12020");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  expectSum(2);
}

TEST_F(PlantedExecutable, WhatIsNoPlantIsSaid) {
  buildGpu(gpuManifest(1), 1);
  expectFailure(run("--inputs in.npz", "AUTOPAR_EMULATED_PLANT=imagine=200"),
                {"'imagine=200'", "one of driver, image"});
}

/// What NCCL itself says on such a driver.
TEST(Planted, AnNcclOfANewerCudaFailsInItsFirstCall) {
  EmulatedGpu gpu;
  ASSERT_TRUE(emulated::plant("driver=12040").ok());
  NcclApi nccl;
  emulated::bindEmulated(nccl);
  ncclUniqueId id;
  ASSERT_EQ(nccl.ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(nccl.ncclCommInitRankConfig(&comm, 1, id, 0, nullptr),
            ncclUnhandledCudaError);
}

TEST(Planted, NcclsTextTellsItsCuda) {
  auto version = [](std::string text) { return ncclCudaVersion(text); };
  std::string zero(1, '\0');
  EXPECT_EQ(version("NCCL version information" + zero +
                    "NCCL version 2.28.9+cuda13.0" + zero),
            13000);
  EXPECT_EQ(version("x NCCL version 2.20.5+cuda12.4"), 12040);
  EXPECT_EQ(version("NCCL version 2.20.5" + zero + "+cuda12.4"), 0);
  EXPECT_EQ(version("NCCL version +cuda"), 0);
  EXPECT_EQ(version("NCCL version 2+cuda99999999999.9"), 0);
  EXPECT_EQ(version(""), 0);
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

std::string multiply(const std::string &plants) {
  EmulatedGpu gpu;
  EXPECT_TRUE(emulated::plant(plants).ok());
  CublasLtApi library;
  emulated::bindEmulated(library);
  CudaGemm gemm(library, *gpu.context, 0);
  aprt_gemm_desc desc{};
  desc.dtype = APRT_F32;
  desc.m = desc.n = desc.k = 2;
  for (int64_t *strides : {desc.a_strides, desc.b_strides, desc.c_strides}) {
    strides[0] = 2;
    strides[1] = 1;
  }
  desc.slot = -1;
  std::vector<float> a = {1, 2, 3, 4}, c(4);
  float *result = gpu.upload(c);
  GemmOperands operands;
  operands.a = gpu.upload(a);
  operands.b = gpu.upload(a);
  operands.c = result;
  if (Status status = gemm.run(desc, operands); status.failed())
    return status.message();
  gpu.download(result, c);
  EXPECT_EQ(c, (std::vector<float>{7, 10, 15, 22}));
  return "";
}

void expectText(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n"
                                                << text;
}

TEST(Planted, HeuristicsOfCublasLt) {
  EXPECT_EQ(multiply(""), "");
  EXPECT_EQ(multiply("cublaslt-first=15"), ""); // the next one
  expectText(multiply("cublaslt-heuristic=0"),
             "cuBLASLt has no algorithm for a f32 GEMM of m=2 n=2 k=2");
  expectText(multiply("cublaslt-heuristic=15"), "cuBLASLt has no algorithm");
  expectText(multiply("cublaslt-heuristic=3"), "CUBLAS_STATUS_ALLOC_FAILED");
  expectText(multiply("cublaslt-heuristic=14"), "CUBLAS_STATUS_INTERNAL_ERROR");
}

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

/// A convolution of 4 channels to 4 on images of 5x5, with bias and relu;
/// compares what it computes. "" or why it fails.
std::string convolve(const std::string &plants, int64_t groups = 1,
                     bool channelsLast = false,
                     const std::string &planCache = "") {
  EmulatedGpu gpu(0, /*tf32=*/false, planCache);
  EXPECT_TRUE(emulated::plant(plants).ok());
  CudnnApi library;
  emulated::bindEmulated(library);
  CudaConv convolution(library, *gpu.context, 0);
  Convolution conv;
  aprt_conv_desc &desc = conv.desc;
  desc.dtype = APRT_F32;
  desc.spatial_rank = 2;
  desc.n = 2;
  desc.c = desc.o = 4;
  desc.groups = groups;
  for (int d : {0, 1}) {
    desc.in[d] = desc.out[d] = 5;
    desc.window[d] = 3;
    desc.strides[d] = desc.dilations[d] = 1;
    desc.pad_low[d] = desc.pad_high[d] = 1;
  }
  desc.bias = 1;
  desc.activation = APRT_ACT_RELU;
  desc.slot = -1;
  desc.channels_last = channelsLast;
  std::mt19937 random(3);
  fill(conv, random);
  std::vector<float> y = conv.y, wanted = conv.y;
  ThreadPool pool(1, false);
  naiveConv(desc, conv.x.data(), conv.w.data(), conv.bias.data(), nullptr,
            wanted.data(), pool);
  float *result = gpu.upload(y);
  Status status =
      convolution.run(desc, {gpu.upload(conv.x), gpu.upload(conv.w),
                             gpu.upload(conv.bias), nullptr, result});
  if (status.failed())
    return status.message();
  gpu.download(result, y);
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], wanted[i], 1e-4);
  return "";
}

/// "Not supported" leads on to the next candidate, or to another way.
TEST(Planted, WhatCudnnDoesNotSupportIsDoneInAnotherWay) {
  EXPECT_EQ(convolve(""), "");
  EXPECT_EQ(convolve("cudnn-first-plan=3000"), "");
  EXPECT_EQ(convolve("cudnn-first-plan=3002"), "");
  // Without NVRTC convolution and epilogue are two graphs.
  EXPECT_EQ(convolve("cudnn-fused=3008"), "");
  // Groups that no engine has are convolved one after the other.
  for (bool channelsLast : {false, true})
    for (int64_t groups : {2, 4})
      for (const char *status : {"3000", "3001", "3004"})
        EXPECT_EQ(convolve(std::string("cudnn-grouped=") + status, groups,
                           channelsLast),
                  "");
}

TEST(Planted, WhatCudnnSupportsInNoWayIsSaidInItsWords) {
  for (const char *plant :
       {"cudnn-graph=3001", "cudnn-heuristic=3002", "cudnn-plan=3003"}) {
    std::string text = convolve(plant, 2);
    expectText(text, "cuDNN has no engine for this convolution of 4 channels "
                     "to 4 in f32: cudnnBackendFinalize of ");
    expectText(text, "CUDNN_STATUS_NOT_SUPPORTED");
    expectText(text, "a refusal that a test asked for");
  }
  expectText(convolve("cudnn-heuristic=0"), "its heuristics return none");
  expectText(convolve("cudnn-plan=3008"), "NVRTC");
}

/// Any other refusal is an error, and no other way is tried.
TEST(Planted, FailuresOfCudnnAreErrors) {
  struct Row {
    const char *plant, *name;
  };
  for (const Row &row : std::initializer_list<Row>{
           {"cudnn-create=1002", "cudnnCreate failed"},
           {"cudnn-graph=4000", "CUDNN_STATUS_INTERNAL_ERROR"},
           {"cudnn-heuristic=4003", "HOST_ALLOCATION_FAILED"},
           {"cudnn-first-plan=4004", "DEVICE_ALLOCATION_FAILED"},
           {"cudnn-fused=4001", "COMPILATION_FAILED"},
           {"cudnn-plan=2000", "CUDNN_STATUS_BAD_PARAM"},
           {"cudnn-execute=5000", "CUDNN_STATUS_EXECUTION_FAILED"}}) {
    std::string text = convolve(row.plant);
    expectText(text, row.name);
    EXPECT_EQ(text.find("no engine"), std::string::npos) << text;
  }
}

//===----------------------------------------------------------------------===//
// Plans on disk
//===----------------------------------------------------------------------===//

class PlanCache : public ::testing::Test {
protected:
  std::string cache() { return folder.path("a/b"); }
  std::vector<std::filesystem::path> files() {
    std::vector<std::filesystem::path> found;
    if (std::filesystem::exists(cache()))
      for (const auto &entry : std::filesystem::directory_iterator(cache()))
        found.push_back(entry.path());
    return found;
  }
  /// Whether a start uses what is kept: without, no plan is made.
  bool isUsed() {
    return convolve("cudnn-plan=4001", 1, false, cache()).empty();
  }
  TemporaryFolder folder;
};

TEST_F(PlanCache, KeepsPlansForLaterStarts) {
  EXPECT_FALSE(isUsed());
  ASSERT_EQ(convolve("", 1, false, cache()), "");
  ASSERT_EQ(files().size(), 1u);
  EXPECT_TRUE(isUsed());
  // Another graph.
  EXPECT_NE(convolve("cudnn-plan=4001", 2, false, cache()), "");
  EXPECT_NE(convolve("cudnn-plan=4001"), ""); // turned off
}

TEST_F(PlanCache, DoesNotTrustWhatIsNotItsOwn) {
  namespace fs = std::filesystem;
  ASSERT_EQ(convolve("", 1, false, cache()), "");
  ASSERT_EQ(files().size(), 1u);
  fs::path file = files()[0];
  std::ifstream in(file, std::ios::binary);
  std::string good{std::istreambuf_iterator<char>(in), {}};
  auto write = [&](const std::string &bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  // Cut short, longer, each byte of the header and some of the rest changed.
  for (size_t length : {size_t(0), size_t(7), size_t(40), good.size() - 1}) {
    write(good.substr(0, length));
    EXPECT_FALSE(isUsed()) << length;
  }
  write(good + "x");
  EXPECT_FALSE(isUsed());
  for (size_t at = 0; at < good.size(); at += at < 32 ? 1 : 37) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 0x55);
    write(bad);
    EXPECT_FALSE(isUsed()) << at;
  }
  write(good);
  EXPECT_TRUE(isUsed());
  // Others may write the file, or the folder; a link; no file at all.
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(isUsed());
  fs::permissions(file, fs::perms::group_write, fs::perm_options::remove);
  fs::permissions(cache(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(isUsed());
  fs::permissions(cache(), fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(isUsed());
  fs::rename(file, folder.path("elsewhere"));
  fs::create_symlink(folder.path("elsewhere"), file);
  EXPECT_FALSE(isUsed());
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(isUsed());
  EXPECT_EQ(convolve("", 1, false, cache()), "");
  EXPECT_EQ(files().size(), 1u); // nothing is left beside it
}

/// The file fits its key, and what the library reads in it is no plan.
TEST_F(PlanCache, APlanThatTheLibraryRefusesIsMadeAnew) {
  CudnnPlanCache(cache(), "host").write("graph", "no plan");
  std::string text;
  EXPECT_TRUE(CudnnPlanCache(cache(), "host").read("graph", text));
  EXPECT_EQ(text, "no plan");
  EXPECT_FALSE(CudnnPlanCache(cache(), "other").read("graph", text));
  EXPECT_FALSE(CudnnPlanCache("", "host").read("graph", text));
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

bool isTest(const std::string &name) {
  const ::testing::UnitTest &all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite &suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
      if (name ==
          std::string(suite.name()) + "." + suite.GetTestInfo(j)->name())
        return true;
  }
  return false;
}

/// Rows "| kind | example | `Suite.Test` |" of the emulated device's page.
TEST(FaultList, EveryKindHasItsTest) {
  std::ifstream page(AUTOPAR_TEST_FAULTS);
  ASSERT_TRUE(page) << AUTOPAR_TEST_FAULTS;
  std::set<std::string> kinds;
  for (std::string line; std::getline(page, line);) {
    size_t open = line.rfind("| `"), close = line.rfind("` |");
    size_t end = line.find(" |", 1);
    if (line.rfind("| ", 0) != 0 || open == std::string::npos ||
        close == std::string::npos || open < end ||
        line.find('.', open) > close)
      continue;
    EXPECT_TRUE(kinds.insert(line.substr(2, end - 2)).second) << line;
    EXPECT_TRUE(isTest(line.substr(open + 3, close - open - 3))) << line;
  }
#define APRT_KIND(kind, words, code)                                           \
  EXPECT_TRUE(kinds.count(words)) << "no row for " << words;
  APEMU_FAULTS(APRT_KIND)
#undef APRT_KIND
  EXPECT_GE(kinds.size(), 40u);
  std::printf("%zu kinds of planted faults, each with its test\n",
              kinds.size());
}

} // namespace
