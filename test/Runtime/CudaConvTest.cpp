//===- CudaConvTest.cpp - Convolutions on the emulated cuDNN --------------===//

#include "cuda/CudaConv.h"
#include "ConvProblem.h"
#include "EmulatedGpu.h"
#include "cpu/NaiveConv.h"
#include "emulated/EmulatedCudnn.h"

using namespace autopar::runtime;

namespace {

struct Gpu : EmulatedGpu {
  explicit Gpu(uint64_t seed = 0, bool tf32 = false) : EmulatedGpu(seed, tf32) {
    emulated::bindEmulated(library);
    conv = std::make_unique<CudaConv>(library, *context, 1);
  }
  CudnnApi library;
  std::unique_ptr<CudaConv> conv;
};

template <typename T> void check(Gpu &gpu, Convolution &conv, bool addendInY) {
  using E = Element<T>;
  aprt_conv_desc &desc = conv.desc;
  desc.dtype = dtypeOf<T>();
  bool exact =
      desc.activation == APRT_ACT_NONE || desc.activation == APRT_ACT_RELU;
  std::vector<T> x = inType<T>(conv.x, exact), w = inType<T>(conv.w, exact);
  std::vector<T> bias = inType<T>(conv.bias, exact);
  std::vector<T> addend = inType<T>(conv.addend, exact);
  std::vector<T> y = inType<T>(conv.y, exact), wanted = y;
  ThreadPool pool(1, false);
  naiveConv(desc, x.data(), w.data(), bias.data(),
            addendInY ? wanted.data() : addend.data(), wanted.data(), pool);
  T *deviceW = gpu.upload(w), *deviceY = gpu.upload(y);
  if (desc.slot >= 0) {
    Status packed = gpu.conv->pack(desc, deviceW);
    ASSERT_TRUE(packed.ok()) << packed.message();
    ASSERT_TRUE(gpu.context->release(deviceW).ok());
    deviceW = nullptr;
  }
  Status status =
      gpu.conv->run(desc, {gpu.upload(x), deviceW, gpu.upload(bias),
                           addendInY ? deviceY : gpu.upload(addend), deviceY});
  ASSERT_TRUE(status.ok()) << status.message() << " of " << describe(desc);
  gpu.download(deviceY, y);
  double tolerance = exact ? 0 : std::is_same_v<T, float> ? 1e-4 : 0.25;
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(E::load(y[i]), E::load(wanted[i]), tolerance)
        << "at " << i << " of " << describe(desc);
}

template <typename T> void checkRandom(int count) {
  std::mt19937 random(23 + sizeof(T));
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    Gpu gpu{uint64_t(i), /*tf32=*/i % 5 == 4};
    Convolution conv = randomConvolution(random);
    if (i % 5 == 4) // whole numbers are the same in tf32
      conv.desc.activation = APRT_ACT_NONE;
    check<T>(gpu, conv, i % 3 == 0);
  }
}

TEST(CudaConv, RandomFloats) { checkRandom<float>(150); }
TEST(CudaConv, RandomHalves) { checkRandom<Float16>(100); }
TEST(CudaConv, RandomBFloats) { checkRandom<BFloat16>(100); }

/// A local slice whose input is longer or shorter than its output needs.
TEST(CudaConv, PaddingThatDoesNotFitTheOutput) {
  std::mt19937 random(4);
  for (int64_t i = 0; i < 8; ++i) {
    int64_t outs[] = {3, 4, 6, 8};
    Gpu gpu;
    Convolution conv;
    conv.desc = {APRT_F32, 2,      2,
                 16,       32,     1,
                 {7, 9},   {3, 3}, {outs[i % 4], 9},
                 {1, 1},   {1, 1}, {0, 1},
                 {0, 1},   1,      0,
                 1,        -1,     i / 4};
    fill(conv, random);
    check<float>(gpu, conv, false);
  }
}

/// Rows of the image are cut away before it, or after it, or all of them.
TEST(CudaConv, NegativePadding) {
  std::mt19937 random(6);
  const int64_t pads[][3] = {
      {-2, 1, 4}, {1, -3, 3}, {-1, -1, 3}, {-7, 4, 2}, {-9, 8, 4}};
  for (const auto &pad : pads)
    for (int64_t last : {0, 1}) {
      Gpu gpu;
      Convolution conv;
      conv.desc = {APRT_F32, 2,           2,           4,           6,
                   2,        {7, 5},      {3, 3},      {pad[2], 5}, {1, 1},
                   {1, 1},   {pad[0], 1}, {pad[1], 1}, 1,           1,
                   1,        -1,          last};
      fill(conv, random);
      check<float>(gpu, conv, false);
      check<Float16>(gpu, conv, true);
    }
}

TEST(CudaConv, EmptyTensorsAndBadDescriptions) {
  Gpu gpu;
  aprt_conv_desc desc{APRT_F32, 1,   0,   4,   4, 1, {8}, {3}, {8},
                      {1},      {1}, {1}, {1}, 0, 0, 0,   -1,  0};
  EXPECT_TRUE(gpu.conv->run(desc, {}).ok());
  desc.groups = 3;
  EXPECT_TRUE(gpu.conv->run(desc, {}).failed());
  desc.groups = 1;
  desc.n = 1;
  desc.slot = 0; // never packed
  EXPECT_TRUE(gpu.conv->run(desc, {}).failed());
  desc.slot = -1;
  desc.dtype = APRT_I32;
  EXPECT_NE(gpu.conv->run(desc, {}).message().find("no convolution of i32"),
            std::string::npos);
  // No channels: the epilogue of zeros.
  std::mt19937 random(1);
  Convolution conv;
  conv.desc = desc;
  conv.desc.dtype = APRT_F32;
  conv.desc.c = 0;
  conv.desc.bias = 1;
  conv.desc.activation = APRT_ACT_GELU_ERF;
  fill(conv, random);
  check<float>(gpu, conv, false);
  // No pixels: nothing but padding is read.
  conv.desc.c = 4;
  conv.desc.in[0] = 0;
  conv.desc.pad_low[0] = conv.desc.pad_high[0] = 5;
  fill(conv, random);
  check<float>(gpu, conv, false);
}

/// Tensor cores round operands to ten bits; plain floats do not.
TEST(CudaConv, Tf32OnlyWhenAsked) {
  aprt_conv_desc desc{APRT_F32, 1,   1,   1,   1, 1, {1}, {1}, {1},
                      {1},      {1}, {0}, {0}, 0, 0, 0,   -1,  0};
  for (bool tf32 : {false, true}) {
    Gpu gpu(0, tf32);
    std::vector<float> x = {1.0f + 0x1p-13f}, w = {3}, y = {0};
    float *result = gpu.upload(y);
    Status status = gpu.conv->run(
        desc, {gpu.upload(x), gpu.upload(w), nullptr, nullptr, result});
    ASSERT_TRUE(status.ok()) << status.message();
    gpu.download(result, y);
    EXPECT_EQ(y[0], tf32 ? 3.0f : 3.0f * x[0]);
  }
}

} // namespace
