//===- ConvProblem.h - Random convolutions ----------------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_CONVPROBLEM_H
#define AUTOPAR_TEST_RUNTIME_CONVPROBLEM_H

#include "autopar/runtime.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace autopar::runtime {

struct Convolution {
  aprt_conv_desc desc{};
  std::vector<float> x, w, bias, addend, y;
};

inline int64_t pixels(const aprt_conv_desc &d, const int64_t *sizes) {
  int64_t count = 1;
  for (int64_t i = 0; i < d.spatial_rank; ++i)
    count *= sizes[i];
  return count;
}

inline std::vector<float> numbers(std::mt19937 &random, int64_t count) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> result(size_t(std::max<int64_t>(count, 0)));
  for (float &value : result)
    value = values(random);
  return result;
}

inline void fill(Convolution &conv, std::mt19937 &random) {
  aprt_conv_desc &d = conv.desc;
  conv.x = numbers(random, d.n * d.c * pixels(d, d.in));
  conv.y = numbers(random, d.n * d.o * pixels(d, d.out));
  conv.addend = numbers(random, d.n * d.o * pixels(d, d.out));
  conv.w = numbers(random, d.o * (d.c / d.groups) * pixels(d, d.window));
  conv.bias = numbers(random, d.o);
}

inline Convolution randomConvolution(std::mt19937 &random) {
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
    d.in[i] = pick({1, 2, 5, 7, 9}); // the first two may be all padding
    d.window[i] = pick({1, 2, 3, 3});
    d.strides[i] = pick({1, 1, 2});
    d.dilations[i] = pick({1, 1, 2});
    d.pad_low[i] = pick({0, 1, 2});
    d.pad_high[i] = pick({0, 1, 1});
    int64_t reach = (d.window[i] - 1) * d.dilations[i] + 1;
    d.pad_low[i] = std::max(d.pad_low[i], reach - d.in[i] - d.pad_high[i]);
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

inline std::string describe(const aprt_conv_desc &d) {
  std::string text;
  const int64_t *words = &d.dtype;
  for (size_t i = 0; i < sizeof(d) / 8; ++i)
    text += std::to_string(words[i]) + " ";
  return text;
}

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_CONVPROBLEM_H
