//===- ConvTest.cpp - Convolutions against plain loops --------------------===//

#include "cpu/Conv.h"
#include "cpu/NaiveConv.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

using namespace autopar::runtime;

namespace {

struct Machine {
  explicit Machine(int threads) : pool(threads, /*spin=*/false) {
    EXPECT_TRUE(library.load().ok());
    library.useCallingThreads(pool);
    conv = std::make_unique<Conv>(library, pool, workspace, memory, 1);
  }
  OneDnn library;
  ThreadPool pool;
  MemoryCounter memory;
  Workspace workspace{pool.threads(), memory};
  std::unique_ptr<Conv> conv;
};

struct Convolution {
  aprt_conv_desc desc{};
  std::vector<float> x, w, bias, addend, y;
};

int64_t pixels(const aprt_conv_desc &d, const int64_t *sizes) {
  int64_t count = 1;
  for (int64_t i = 0; i < d.spatial_rank; ++i)
    count *= sizes[i];
  return count;
}

std::vector<float> numbers(std::mt19937 &random, int64_t count) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> result(size_t(std::max<int64_t>(count, 0)));
  for (float &value : result)
    value = values(random);
  return result;
}

void fill(Convolution &conv, std::mt19937 &random) {
  aprt_conv_desc &d = conv.desc;
  conv.x = numbers(random, d.n * d.c * pixels(d, d.in));
  conv.y = numbers(random, d.n * d.o * pixels(d, d.out));
  conv.addend = numbers(random, d.n * d.o * pixels(d, d.out));
  conv.w = numbers(random, d.o * (d.c / d.groups) * pixels(d, d.window));
  conv.bias = numbers(random, d.o);
}

Convolution randomConvolution(std::mt19937 &random) {
  auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  Convolution conv;
  aprt_conv_desc &d = conv.desc;
  d.dtype = APRT_F32;
  d.spatial_rank = pick({1, 2, 2, 2, 3});
  d.n = pick({1, 2, 3});
  switch (random() % 4) {
  case 0: // depthwise
    d.c = d.o = d.groups = pick({3, 16, 32, 40});
    break;
  case 1: // grouped
    d.groups = pick({2, 3});
    d.c = d.groups * pick({1, 4, 16});
    d.o = d.groups * pick({1, 5, 16});
    break;
  default:
    d.groups = 1;
    d.c = pick({1, 3, 16, 20, 32});
    d.o = pick({1, 8, 16, 33, 64});
  }
  for (int64_t i = 0; i < d.spatial_rank; ++i) {
    d.in[i] = pick({5, 7, 9});
    d.window[i] = pick({1, 2, 3, 3});
    d.strides[i] = pick({1, 1, 2});
    d.dilations[i] = pick({1, 1, 2});
    d.pad_low[i] = pick({0, 1, 2});
    d.pad_high[i] = pick({0, 1, 1});
    d.out[i] = (d.in[i] + d.pad_low[i] + d.pad_high[i] -
                (d.window[i] - 1) * d.dilations[i] - 1) /
                   d.strides[i] +
               1;
  }
  d.bias = random() % 2;
  d.addend = random() % 2;
  d.activation = random() % 7;
  d.slot = random() % 2 ? 0 : -1;
  d.channels_last = random() % 2;
  fill(conv, random);
  return conv;
}

std::string describe(const aprt_conv_desc &d) {
  std::string text;
  const int64_t *words = &d.dtype;
  for (size_t i = 0; i < sizeof(d) / 8; ++i)
    text += std::to_string(words[i]) + " ";
  return text;
}

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
