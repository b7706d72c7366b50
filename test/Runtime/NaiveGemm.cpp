//===- NaiveGemm.cpp - A GEMM by plain loops ------------------------------===//

#include "NaiveGemm.h"
#include "core/DataType.h"
#include "cpu/Activation.h"

#include <type_traits>

namespace autopar::runtime {

namespace {

/// Offset of one matrix of a batch.
int64_t batchOffset(const aprt_gemm_desc &desc, const int64_t *strides,
                    int64_t index) {
  int64_t offset = 0;
  for (int64_t d = desc.batch_rank - 1; d >= 0; --d) {
    offset += index % desc.batch[d] * strides[d];
    index /= desc.batch[d];
  }
  return offset;
}

template <typename T> struct Operands {
  const T *a;
  const T *b;
  const T *bias;
  const T *addend;
  T *c;
};

/// One row of one matrix of the batch.
template <typename T>
void gemmRow(const aprt_gemm_desc &desc, const Operands<T> &operands,
             int64_t batch, int64_t row) {
  using E = Element<T>;
  using Compute = typename E::Compute;
  // Whole numbers wrap around.
  using Sum =
      std::conditional_t<std::is_integral_v<Compute>, uint64_t, Compute>;
  const int64_t r = desc.batch_rank;
  const T *a = operands.a + batchOffset(desc, desc.a_strides, batch) +
               row * desc.a_strides[r];
  const T *b = operands.b + batchOffset(desc, desc.b_strides, batch);
  int64_t offset =
      batchOffset(desc, desc.c_strides, batch) + row * desc.c_strides[r];
  for (int64_t n = 0; n < desc.n; ++n) {
    Sum total = 0;
    for (int64_t k = 0; k < desc.k; ++k)
      total +=
          Sum(E::load(a[k * desc.a_strides[r + 1]])) *
          Sum(E::load(b[k * desc.b_strides[r] + n * desc.b_strides[r + 1]]));
    if (desc.bias)
      total += Sum(E::load(operands.bias[n]));
    Sum sum = Sum(activate(desc.activation, Compute(total)));
    int64_t at = offset + n * desc.c_strides[r + 1];
    if (desc.addend)
      sum += Sum(E::load(operands.addend[at]));
    operands.c[at] = E::store(Compute(sum));
  }
}

} // namespace

void naiveGemm(const aprt_gemm_desc &desc, const void *a, const void *b,
               const void *bias, const void *addend, void *c,
               ThreadPool &pool) {
  int64_t batches = 1;
  for (int64_t d = 0; d < desc.batch_rank; ++d)
    batches *= desc.batch[d];
  visitDtype(desc.dtype, [&](auto example) {
    using T = decltype(example);
    Operands<T> operands{static_cast<const T *>(a), static_cast<const T *>(b),
                         static_cast<const T *>(bias),
                         static_cast<const T *>(addend), static_cast<T *>(c)};
    pool.split(batches * desc.m, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        gemmRow(desc, operands, i / desc.m, i % desc.m);
    });
  });
}

} // namespace autopar::runtime
