//===- ConvTest.cpp - Convolutions against plain loops --------------------===//

#include "cpu/Conv.h"
#include "ConvProblem.h"
#include "core/DataType.h"
#include "cpu/NaiveConv.h"
#include "cpu/ShallowConv.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

using namespace autopar::runtime;

namespace {

struct Machine {
  explicit Machine(int threads) : pool(threads, /*spin=*/false) {
    EXPECT_TRUE(library.load().ok());
    library.useCallingThreads(pool);
    gemm = std::make_unique<Gemm>(library, pool, workspace, memory, 1);
    conv = std::make_unique<Conv>(library, pool, workspace, memory, 1, *gemm);
  }
  OneDnn library;
  ThreadPool pool;
  MemoryCounter memory;
  Workspace workspace{pool.threads(), memory};
  std::unique_ptr<Gemm> gemm;
  std::unique_ptr<Conv> conv;
};

void check(Machine &machine, Convolution &conv, bool addendInY) {
  std::vector<float> wanted = conv.y;
  naiveConv(conv.desc, conv.x.data(), conv.w.data(), conv.bias.data(),
            addendInY ? wanted.data() : conv.addend.data(), wanted.data(),
            machine.pool);
  if (conv.desc.slot >= 0) {
    ASSERT_TRUE(machine.conv->pack(conv.desc, conv.w.data()).ok());
  }
  std::vector<float> got = conv.y;
  Status status = machine.conv->run(
      conv.desc, {conv.x.data(), conv.desc.slot < 0 ? conv.w.data() : nullptr,
                  conv.bias.data(), addendInY ? got.data() : conv.addend.data(),
                  got.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], 1e-4)
        << "at " << i << " of " << describe(conv.desc);
}

class ConvThreads : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ConvThreads, ::testing::Values(1, 2, 3));

TEST_P(ConvThreads, RandomConvolutions) {
  std::mt19937 random(21 + GetParam());
  Machine machine(GetParam());
  for (int i = 0; i < 150; ++i) {
    Convolution conv = randomConvolution(random);
    check(machine, conv, i % 3 == 0);
    if (HasFatalFailure())
      return;
  }
}

/// `values` rounded to T, in T.
template <typename T> std::vector<T> rounded(std::vector<float> &values) {
  std::vector<T> result;
  for (float &value : values) {
    result.push_back(Element<T>::store(value));
    value = Element<T>::load(result.back());
  }
  return result;
}

/// Sums are in f32, so that one rounding of the result is all that is lost.
template <typename T>
void checkHalf(Machine &machine, Convolution conv, int64_t dtype,
               float rounding) {
  auto x = rounded<T>(conv.x), w = rounded<T>(conv.w);
  auto bias = rounded<T>(conv.bias), addend = rounded<T>(conv.addend);
  auto got = rounded<T>(conv.y);
  naiveConv(conv.desc, conv.x.data(), conv.w.data(), conv.bias.data(),
            conv.addend.data(), conv.y.data(), machine.pool);
  conv.desc.dtype = dtype;
  if (conv.desc.slot >= 0) {
    ASSERT_TRUE(machine.conv->pack(conv.desc, w.data()).ok());
  }
  Status status = machine.conv->run(
      conv.desc, {x.data(), conv.desc.slot < 0 ? w.data() : nullptr,
                  bias.data(), addend.data(), got.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(Element<T>::load(got[i]), conv.y[i],
                rounding * (1 + std::abs(conv.y[i])))
        << "at " << i << " of " << describe(conv.desc);
}

/// A convolution whose images have at most one dimension longer than a pixel.
Convolution lineConvolution(std::mt19937 &random) {
  Convolution conv = randomConvolution(random);
  aprt_conv_desc &d = conv.desc;
  int64_t line = int64_t(random() % 4); // none if there is no such dimension
  for (int64_t i = 0; i < d.spatial_rank; ++i) {
    if (i == line) {
      d.in[i] += 40;
      d.out[i] += 40 / d.strides[i];
      continue;
    }
    d.in[i] = d.window[i] = d.out[i] = 1;
    d.pad_low[i] = d.pad_high[i] = 0;
  }
  fill(conv, random);
  return conv;
}

/// Row-major depthwise and other shallow convolutions: strides, dilations and
/// paddings of both dimensions, several outputs per group, the 16-bit floats.
TEST_P(ConvThreads, Shallow) {
  std::mt19937 random(91 + GetParam());
  Machine machine(GetParam());
  int taken = 0;
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) {
    Convolution conv = randomConvolution(random);
    aprt_conv_desc &d = conv.desc;
    d.channels_last = 0;
    d.groups = i % 4 ? d.c : 1;
    d.o = d.groups * int64_t(1 + random() % 3);
    for (int64_t s = 0; s < d.spatial_rank; ++s) {
      int64_t more = int64_t(random() % 60);
      d.in[s] += more;
      d.strides[s] = int64_t(1 + random() % 3);
      d.out[s] = (d.in[s] + d.pad_low[s] + d.pad_high[s] -
                  (d.window[s] - 1) * d.dilations[s] - 1) /
                     d.strides[s] +
                 1;
    }
    if (d.spatial_rank == 3)
      continue;
    taken += isShallowConv(d);
    fill(conv, random);
    check(machine, conv, i % 3 == 0);
  }
  EXPECT_GT(taken, 150);
}

TEST_P(ConvThreads, LinesAndPixels) {
  std::mt19937 random(77 + GetParam());
  Machine machine(GetParam());
  for (int i = 0; i < 200 && !HasFatalFailure(); ++i) {
    Convolution conv = lineConvolution(random);
    check(machine, conv, i % 3 == 0);
  }
}

/// Large filters are packed by all threads, those of no slot into memory that
/// the calls share; channels are no multiple of the library's blocks, too.
TEST_P(ConvThreads, WideFilters) {
  std::mt19937 random(31 + GetParam());
  Machine machine(GetParam());
  int64_t unpacked = 0;
  for (int i = 0; i < 24 && !HasFatalFailure(); ++i) {
    Convolution conv = randomConvolution(random);
    aprt_conv_desc &d = conv.desc;
    if (d.groups > 2)
      continue;
    d.c = d.groups * 64;
    d.o = d.groups * (i % 2 ? 96 : 83);
    fill(conv, random);
    check(machine, conv, i % 3 == 0);
    unpacked += d.slot < 0;
  }
  EXPECT_GT(unpacked, 2);
}

/// Nothing but the shape of the description changes.
TEST(Conv, LinesAreImagesOfHeightOne) {
  aprt_conv_desc desc{};
  desc.dtype = APRT_F32;
  desc.spatial_rank = 3;
  desc.n = 1;
  desc.c = desc.o = desc.groups = 8;
  for (int64_t d = 0; d < 3; ++d)
    desc.in[d] = desc.window[d] = desc.out[d] = desc.strides[d] =
        desc.dilations[d] = 1;
  desc.in[1] = 9;
  desc.window[1] = 3;
  desc.out[1] = 5;
  desc.strides[0] = 3;
  desc.strides[1] = 2;
  desc.pad_low[1] = desc.pad_high[1] = 1;
  aprt_conv_desc image = imageConv(desc);
  EXPECT_EQ(image.spatial_rank, 2);
  EXPECT_EQ(image.in[0], 1);
  EXPECT_EQ(image.in[1], 9);
  EXPECT_EQ(image.window[1], 3);
  EXPECT_EQ(image.out[1], 5);
  EXPECT_EQ(image.strides[1], 2);
  EXPECT_EQ(image.pad_low[1], 1);
  desc.window[0] = 3; // reads padding: stays
  desc.pad_low[0] = desc.pad_high[0] = 1;
  EXPECT_EQ(imageConv(desc).spatial_rank, 2);
  EXPECT_EQ(imageConv(desc).window[0], 3);
}

TEST_P(ConvThreads, HalvesAreAddedUpInFloat) {
  std::mt19937 random(77 + GetParam());
  Machine machine(GetParam());
  for (int i = 0; i < 60; ++i) {
    Convolution conv = randomConvolution(random);
    checkHalf<Float16>(machine, conv, APRT_F16, 0x1p-10f);
    checkHalf<BFloat16>(machine, conv, APRT_BF16, 0x1p-7f);
    if (HasFatalFailure())
      return;
  }
}

/// A local slice whose input is longer or shorter than its output needs.
TEST(Conv, PaddingThatDoesNotFitTheOutput) {
  std::mt19937 random(4);
  for (int threads : {1, 2})
    for (int64_t i = 0; i < 8; ++i) {
      int64_t out = std::array{3, 4, 6, 8}[i % 4];
      Machine machine(threads);
      Convolution conv;
      conv.desc = {APRT_F32, 2,      2,        16,     32,     1,
                   {7, 9},   {3, 3}, {out, 9}, {1, 1}, {1, 1}, {0, 1},
                   {0, 1},   1,      0,        1,      -1,     i / 4};
      fill(conv, random);
      check(machine, conv, false);
    }
}

/// Those of the library and of plain loops, against the definition.
TEST_P(ConvThreads, FilterGradients) {
  std::mt19937 random(53 + GetParam());
  Machine machine(GetParam());
  for (int i = 0; i < 60; ++i) {
    Convolution conv = randomConvolution(random);
    aprt_conv_desc &d = conv.desc;
    d.spatial_rank = std::min<int64_t>(d.spatial_rank, 2);
    d.c = i % 8 ? d.c / d.groups : 64;
    d.o = i % 8 ? d.o / d.groups : 64;
    d.n = int64_t(1 + random() % 5);
    d.groups = 1;
    d.bias = d.addend = d.activation = 0;
    d.slot = -1;
    fill(conv, random);
    // The filter's gradient: what the convolution of a filter of a single one
    // gives, times the gradient of the result.
    std::vector<float> gradient = conv.y, got(conv.w.size()), loops = got;
    d.filter_gradient = 1;
    Status status = machine.conv->run(
        d, {conv.x.data(), gradient.data(), nullptr, nullptr, got.data()});
    ASSERT_TRUE(status.ok()) << status.message();
    naiveFilterGradient(d, conv.x.data(), gradient.data(), loops.data(),
                        machine.pool);
    d.filter_gradient = 0;
    for (size_t at = 0; at < got.size(); ++at)
      ASSERT_NEAR(got[at], loops[at], 1e-3) << "at " << at << describe(d);
    for (size_t at = 0; at < got.size(); at += 1 + got.size() / 4) {
      std::fill(conv.w.begin(), conv.w.end(), 0.0f);
      conv.w[at] = 1;
      naiveConv(d, conv.x.data(), conv.w.data(), nullptr, nullptr,
                conv.y.data(), machine.pool);
      double wanted = 0;
      for (size_t j = 0; j < conv.y.size(); ++j)
        wanted += double(conv.y[j]) * gradient[j];
      ASSERT_NEAR(loops[at], wanted, 1e-3) << "at " << at << describe(d);
    }
  }
}

TEST(Conv, EmptyBatchAndBadDescriptions) {
  Machine machine(2);
  aprt_conv_desc desc{APRT_F32, 1,   0,   4,   4, 1, {8}, {3}, {8},
                      {1},      {1}, {1}, {1}, 0, 0, 0,   -1,  0};
  EXPECT_TRUE(machine.conv->run(desc, {}).ok());
  desc.groups = 3;
  EXPECT_TRUE(machine.conv->run(desc, {}).failed());
  desc.groups = 1;
  desc.spatial_rank = 4;
  EXPECT_TRUE(machine.conv->run(desc, {}).failed());
  desc.spatial_rank = 1;
  desc.slot = 0; // never packed
  EXPECT_TRUE(machine.conv->run(desc, {}).failed());
}

} // namespace
