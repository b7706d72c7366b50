//===- CudaGemmTest.cpp - GEMMs on the emulated cuBLASLt ------------------===//

#include "cuda/CudaGemm.h"
#include "EmulatedGpu.h"
#include "GemmProblem.h"
#include "NaiveGemm.h"
#include "emulated/EmulatedCublasLt.h"
#include "emulated/Planted.h"

#include <optional>

using namespace autopar::runtime;

namespace {

/// A library without batches by address, while it lives: 1 does not know them,
/// 2 has no GEMM of them.
struct OlderLibrary {
  explicit OlderLibrary(int which) {
    std::string text = "cublaslt-strided=" + std::to_string(which);
    EXPECT_TRUE(emulated::plant(text).ok());
  }
  ~OlderLibrary() { EXPECT_TRUE(emulated::plant("").ok()); }
};

struct Gpu : EmulatedGpu {
  explicit Gpu(uint64_t seed = 0, bool tf32 = false) : EmulatedGpu(seed, tf32) {
    emulated::bindEmulated(library);
    gemm = std::make_unique<CudaGemm>(library, *context, 4);
  }
  CublasLtApi library;
  std::unique_ptr<CudaGemm> gemm;
};

/// A GEMM that the library has in type T.
template <typename T> GemmProblem supportedProblem(std::mt19937 &random) {
  GemmProblem p = randomProblem(random);
  aprt_gemm_desc &d = p.desc;
  int64_t r = d.batch_rank;
  bool oddA =
      d.m > 1 && d.k > 1 && d.a_strides[r] != 1 && d.a_strides[r + 1] != 1;
  bool oddC = d.n > 1 && d.c_strides[r + 1] != 1;
  if (oddA || oddC)
    return supportedProblem<T>(random);
  d.dtype = dtypeOf<T>();
  constexpr int64_t activations[] = {APRT_ACT_NONE, APRT_ACT_RELU,
                                     APRT_ACT_GELU_TANH};
  d.activation = activations[random() % 3];
  if (d.dtype == APRT_F64)
    d.bias = d.activation = 0;
  if (d.activation)
    d.addend = 0;
  return p;
}

template <typename T> void checkProblem(Gpu &gpu, GemmProblem &p, bool inC) {
  using E = Element<T>;
  bool exact = p.desc.activation != APRT_ACT_GELU_TANH;
  std::vector<T> a = inType<T>(p.a, exact), b = inType<T>(p.b, exact);
  std::vector<T> bias = inType<T>(p.bias, exact), c = inType<T>(p.c, exact);
  std::vector<T> addend = inType<T>(p.addend, exact), wanted = c;
  ThreadPool pool(1, false);
  naiveGemm(p.desc, a.data(), b.data(), bias.data(),
            inC ? wanted.data() : addend.data(), wanted.data(), pool);
  int64_t offset = p.desc.m % 3 * int64_t(sizeof(T));
  T *deviceB = gpu.upload(b), *deviceC = gpu.upload(c, offset);
  if (p.desc.slot >= 0) {
    Status packed = gpu.gemm->pack(p.desc, deviceB);
    ASSERT_TRUE(packed.ok()) << packed.message();
    ASSERT_TRUE(gpu.context->release(deviceB).ok());
    deviceB = nullptr;
  }
  Status status =
      gpu.gemm->run(p.desc, {gpu.upload(a, offset), deviceB, gpu.upload(bias),
                             inC ? deviceC : gpu.upload(addend), deviceC});
  ASSERT_TRUE(status.ok()) << status.message() << " of " << describe(p.desc);
  gpu.download(deviceC, c);
  double tolerance = exact ? 0 : std::is_same_v<T, float> ? 1e-4 : 0.05;
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_NEAR(E::load(c[i]), E::load(wanted[i]), tolerance)
        << "at " << i << " of " << describe(p.desc);
}

template <typename T> void checkRandomProblems(int count, int64_t slots) {
  std::mt19937 random(17 + sizeof(T));
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    Gpu gpu{uint64_t(i)};
    std::optional<OlderLibrary> older;
    if (i % 3 != 0)
      older.emplace(i % 3);
    GemmProblem p = supportedProblem<T>(random);
    p.desc.slot = slots ? i % slots : -1;
    checkProblem<T>(gpu, p, i % 2);
  }
}

TEST(CudaGemm, RandomFloats) { checkRandomProblems<float>(300, 0); }
TEST(CudaGemm, RandomHalves) { checkRandomProblems<Float16>(150, 0); }
TEST(CudaGemm, RandomBFloats) { checkRandomProblems<BFloat16>(150, 0); }
TEST(CudaGemm, RandomDoubles) { checkRandomProblems<double>(80, 0); }
TEST(CudaGemm, PackedFloats) { checkRandomProblems<float>(100, 4); }
TEST(CudaGemm, PackedHalves) { checkRandomProblems<Float16>(60, 4); }

/// Heads between the rows of a batch: no stride goes through all matrices.
GemmProblem attentionScores() {
  constexpr int64_t b = 3, s = 5, h = 4, d = 8;
  GemmProblem p;
  p.desc = {APRT_F32,
            2,
            {b, h},
            s,
            s,
            d,
            {s * h * d, d, h * d, 1},
            {s * h * d, d, 1, h * d},
            {h * s * s, s * s, s, 1},
            0,
            0,
            0,
            -1};
  std::mt19937 random(2);
  p.fill(random);
  return p;
}

TEST(CudaGemm, AttentionScores) {
  GemmProblem p = attentionScores();
  for (int which : {0, 1, 2}) {
    Gpu gpu;
    std::optional<OlderLibrary> older;
    if (which)
      older.emplace(which);
    checkProblem<float>(gpu, p, false);
    // The addresses of 12 matrices of A, B, the addend and C.
    EXPECT_EQ(gpu.memory.workspace.currentBytes(), which ? 0 : 12 * 4 * 8);
  }
}

/// Addresses are put into the GPU's memory once for each place of operands.
TEST(CudaGemm, AddressesAreKept) {
  GemmProblem p = attentionScores();
  Gpu gpu;
  float *a = gpu.upload(p.a), *b = gpu.upload(p.b), *c = gpu.upload(p.c);
  float *other = gpu.upload(p.c);
  for (float *result : {c, c, other, c, other})
    ASSERT_TRUE(gpu.gemm->run(p.desc, {a, b, nullptr, nullptr, result}).ok());
  EXPECT_EQ(gpu.memory.workspace.currentBytes(), 2 * 12 * 4 * 8);
}

/// Tensor cores round operands to ten bits; plain floats do not.
TEST(CudaGemm, Tf32OnlyWhenAsked) {
  aprt_gemm_desc desc{APRT_F32, 0,      {}, 1, 1, 1, {1, 1},
                      {1, 1},   {1, 1}, 0,  0, 0, -1};
  for (bool tf32 : {false, true}) {
    Gpu gpu(0, tf32);
    std::vector<float> a = {1.0f + 0x1p-13f}, b = {3}, c = {0};
    float *result = gpu.upload(c);
    ASSERT_TRUE(gpu.gemm
                    ->run(desc, {gpu.upload(a), gpu.upload(b), nullptr, nullptr,
                                 result})
                    .ok());
    gpu.download(result, c);
    EXPECT_EQ(c[0], tf32 ? 3.0f : 3.0f * a[0]);
  }
}

/// Long sums use the workspace: it is counted, and made before a capture.
TEST(CudaGemm, WorkspaceIsCountedAndReused) {
  Gpu gpu;
  GemmProblem p;
  p.desc = {APRT_F32, 0,       {}, 16, 16, 1024, {1024, 1},
            {16, 1},  {16, 1}, 0,  0,  0,  -1};
  std::mt19937 random(1);
  p.fill(random);
  checkProblem<float>(gpu, p, false);
  int64_t held = gpu.memory.workspace.currentBytes();
  EXPECT_GE(held, 16 * 16 * 4 * 2);
  checkProblem<float>(gpu, p, false);
  EXPECT_EQ(gpu.memory.workspace.currentBytes(), held);
}

TEST(CudaGemm, WhatTheLibraryLacksIsNamed) {
  Gpu gpu;
  float *memory = gpu.upload(std::vector<float>(64, 1.0f));
  aprt_gemm_desc good{APRT_F32, 0,      {}, 2, 2, 2, {2, 1},
                      {2, 1},   {2, 1}, 0,  0, 0, -1};
  auto message = [&](aprt_gemm_desc desc) {
    return gpu.gemm
        ->run(desc,
              {memory, memory + 16, memory + 24, memory + 32, memory + 48})
        .message();
  };
  EXPECT_EQ(message(good), "");
  aprt_gemm_desc desc = good;
  desc.dtype = APRT_I32;
  EXPECT_NE(message(desc).find("no type or epilogue for a i32 GEMM"),
            std::string::npos);
  desc = good;
  desc.activation = APRT_ACT_SILU;
  EXPECT_NE(message(desc).find("no type or epilogue"), std::string::npos);
  desc = good;
  desc.addend = desc.activation = 1; // the library adds before it activates
  EXPECT_NE(message(desc).find("no type or epilogue"), std::string::npos);
  desc = good;
  desc.a_strides[1] = 3;
  EXPECT_NE(message(desc).find("no layout"), std::string::npos);
  desc = good;
  desc.c_strides[0] = 1;
  EXPECT_NE(message(desc).find("no layout"), std::string::npos);
  desc = good;
  desc.slot = 1;
  EXPECT_NE(message(desc).find("not at all"), std::string::npos);
}

} // namespace
