//===- GemmProblem.h - Random GEMMs -----------------------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_GEMMPROBLEM_H
#define AUTOPAR_TEST_RUNTIME_GEMMPROBLEM_H

#include "autopar/runtime.h"

#include <array>
#include <random>
#include <string>
#include <vector>

namespace autopar::runtime {

inline int64_t extent(int64_t rank, const int64_t *sizes,
                      const int64_t *strides) {
  int64_t most = 1;
  for (int64_t d = 0; d < rank; ++d) {
    if (sizes[d] == 0)
      return 1;
    most += (sizes[d] - 1) * strides[d];
  }
  return most;
}

/// A GEMM with its operands.
struct GemmProblem {
  aprt_gemm_desc desc{};
  std::vector<float> a, b, bias, addend, c;

  std::array<int64_t, 6> sizes(int64_t rows, int64_t columns) const {
    std::array<int64_t, 6> result{};
    for (int64_t d = 0; d < desc.batch_rank; ++d)
      result[d] = desc.batch[d];
    result[desc.batch_rank] = rows;
    result[desc.batch_rank + 1] = columns;
    return result;
  }
  void fill(std::mt19937 &random) {
    std::uniform_real_distribution<float> values(-1, 1);
    int64_t r = desc.batch_rank + 2;
    a.resize(extent(r, sizes(desc.m, desc.k).data(), desc.a_strides));
    b.resize(extent(r, sizes(desc.k, desc.n).data(), desc.b_strides));
    c.resize(extent(r, sizes(desc.m, desc.n).data(), desc.c_strides));
    bias.resize(size_t(desc.n) + 1);
    addend.resize(c.size());
    for (auto *tensor : {&a, &b, &bias, &addend, &c})
      for (float &value : *tensor)
        value = values(random);
  }
};

/// Dense strides of the last two dimensions in either order, then the batch.
inline void denseStrides(GemmProblem &p, int64_t *strides, int64_t rows,
                         int64_t columns, bool transposed, int64_t padding) {
  int64_t r = p.desc.batch_rank;
  strides[r] = transposed ? 1 : columns + padding;
  strides[r + 1] = transposed ? rows + padding : 1;
  int64_t size = transposed ? columns * strides[r + 1] : rows * strides[r];
  for (int64_t d = r - 1; d >= 0; --d) {
    strides[d] = size;
    size *= p.desc.batch[d];
  }
}

inline GemmProblem randomProblem(std::mt19937 &random) {
  auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  GemmProblem p;
  aprt_gemm_desc &d = p.desc;
  d.dtype = APRT_F32;
  d.batch_rank = pick({0, 0, 1, 1, 2, 3});
  for (int64_t i = 0; i < d.batch_rank; ++i)
    d.batch[i] = pick({1, 2, 3, 4});
  d.m = pick({0, 1, 2, 7, 16, 33, 130});
  d.n = pick({0, 1, 3, 16, 31, 64, 200});
  d.k = pick({0, 1, 2, 17, 64});
  denseStrides(p, d.a_strides, d.m, d.k, random() % 3 == 0, pick({0, 0, 3}));
  denseStrides(p, d.b_strides, d.k, d.n, random() % 3 == 0, pick({0, 0, 5}));
  denseStrides(p, d.c_strides, d.m, d.n, random() % 8 == 0, pick({0, 0, 2}));
  for (int64_t i = 0; i < d.batch_rank; ++i) {
    if (random() % 4 == 0)
      d.a_strides[i] = 0;
    if (random() % 3 == 0)
      d.b_strides[i] = 0;
  }
  if (random() % 12 == 0) { // neither of the last strides is 1
    d.a_strides[d.batch_rank] *= 2;
    d.a_strides[d.batch_rank + 1] *= 2;
    for (int64_t i = 0; i < d.batch_rank; ++i)
      d.a_strides[i] *= 2;
  }
  d.bias = random() % 2;
  d.addend = random() % 2;
  d.activation = random() % 7;
  d.slot = -1;
  p.fill(random);
  return p;
}

inline std::string describe(const aprt_gemm_desc &d) {
  std::string text;
  const int64_t *words = &d.dtype;
  for (size_t i = 0; i < sizeof(d) / 8; ++i)
    text += std::to_string(words[i]) + " ";
  return text;
}

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_GEMMPROBLEM_H
