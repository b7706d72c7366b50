//===- BlockedGemm.cpp - GEMMs of any type --------------------------------===//
//
// A piece of work is a block of rows of one matrix of the batch and a group of
// its columns. The block's rows are packed once, each panel of columns before
// its use; a tile of a few rows by one panel is summed in registers over all
// of k.
//
//===----------------------------------------------------------------------===//

#include "BlockedGemm.h"

#include "../core/DataType.h"
#include "Activation.h"
#include "GemmPlan.h"
#include "Lanes.h"

#include <algorithm>
#include <type_traits>

namespace autopar::runtime {

namespace {

constexpr int64_t tileRows = 4;
constexpr int64_t mostBlockRows = 64;
constexpr int64_t mostBlockBytes = 1 << 20; // of packed rows

/// A panel is two vectors wide.
template <typename S>
constexpr int64_t panelColumns = 2 * vectorBytes / int64_t(sizeof(S));

/// sums[r][c] = sum over k of rows[k][r] * panel[k][c].
template <typename S>
[[gnu::always_inline]] inline void tileBody(int64_t depth, const S *rows,
                                            const S *panel, S *sums) {
  typedef S Vector __attribute__((vector_size(vectorBytes)));
  constexpr int64_t lanes = vectorBytes / int64_t(sizeof(S));
  Vector total[tileRows][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vector left, right;
    std::memcpy(&left, panel + k * 2 * lanes, sizeof(left));
    std::memcpy(&right, panel + k * 2 * lanes + lanes, sizeof(right));
#pragma GCC unroll 4
    for (int64_t r = 0; r < tileRows; ++r) {
      S x = rows[k * tileRows + r];
      total[r][0] += x * left;
      total[r][1] += x * right;
    }
  }
  std::memcpy(sums, total, sizeof(total));
}

template <typename S>
using TileFunction = void (*)(int64_t, const S *, const S *, S *);

template <typename S>
void tilePlain(int64_t depth, const S *rows, const S *panel, S *sums) {
  tileBody(depth, rows, panel, sums);
}

#if defined(__x86_64__)
template <typename S>
[[gnu::target("avx2,fma")]] void tileAvx2(int64_t depth, const S *rows,
                                          const S *panel, S *sums) {
  tileBody(depth, rows, panel, sums);
}
template <typename S>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] void
tileAvx512(int64_t depth, const S *rows, const S *panel, S *sums) {
  tileBody(depth, rows, panel, sums);
}
#endif

/// The tile for this host.
template <typename S> TileFunction<S> chooseTile() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return tileAvx512<S>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return tileAvx2<S>;
#endif
  return tilePlain<S>;
}

int64_t blockRows(const aprt_gemm_desc &desc, int64_t sumBytes) {
  int64_t fit = mostBlockBytes / std::max<int64_t>(1, desc.k * sumBytes);
  int64_t rows = std::clamp(fit, tileRows, mostBlockRows) / tileRows * tileRows;
  return std::min(rows, (desc.m + tileRows - 1) / tileRows * tileRows);
}

/// One GEMM in elements of type T.
template <typename T> class TypedGemm {
public:
  using E = Element<T>;
  using Compute = typename E::Compute;
  using Sum = SumOf<T>;
  static constexpr int64_t width = panelColumns<Sum>;

  TypedGemm(const aprt_gemm_desc &desc, const void *a, const void *b,
            const void *bias, const void *addend, void *c)
      : desc(desc), a(static_cast<const T *>(a)), b(static_cast<const T *>(b)),
        bias(static_cast<const T *>(bias)),
        addend(static_cast<const T *>(addend)), c(static_cast<T *>(c)),
        r(desc.batch_rank), rowsPerBlock(blockRows(desc, sizeof(Sum))),
        tile(chooseTile<Sum>()) {}

  /// Cuts rows, and columns too where rows are too few for the threads.
  void run(ThreadPool &pool, const Workspace &workspace) const {
    int64_t blocks = (desc.m + rowsPerBlock - 1) / rowsPerBlock;
    int64_t panels = (desc.n + width - 1) / width;
    int64_t units = gemmBatches(desc) * blocks;
    int64_t groups = units >= 2 * pool.threads()
                         ? 1
                         : std::min<int64_t>(panels, 2 * pool.threads());
    pool.run(units * groups, [&](int64_t piece) {
      int64_t unit = piece / groups, group = piece % groups;
      Sum *scratch = static_cast<Sum *>(workspace.block(piece));
      runBlock(unit / blocks, unit % blocks * rowsPerBlock,
               {panels * group / groups * width,
                std::min(desc.n, panels * (group + 1) / groups * width)},
               scratch);
    });
  }

private:
  void runBlock(int64_t batch, int64_t row, Range columns, Sum *scratch) const;
  void packRows(const T *from, int64_t count, Sum *to) const;
  void packPanel(const T *from, int64_t count, Sum *to) const;
  void storeTile(const Sum *sums, int64_t row, int64_t rows, int64_t column,
                 int64_t columns, int64_t offset) const;

  const aprt_gemm_desc &desc;
  const T *a, *b, *bias, *addend;
  T *c;
  int64_t r; // where the matrix strides begin
  int64_t rowsPerBlock;
  TileFunction<Sum> tile;
};

/// `count` rows of A, tile by tile: [k][tileRows], zero past the end.
template <typename T>
void TypedGemm<T>::packRows(const T *from, int64_t count, Sum *to) const {
  for (int64_t first = 0; first < count; first += tileRows)
    for (int64_t k = 0; k < desc.k; ++k)
      for (int64_t i = first; i < first + tileRows; ++i)
        *to++ =
            i < count
                ? Sum(E::load(
                      from[i * desc.a_strides[r] + k * desc.a_strides[r + 1]]))
                : Sum(0);
}

/// `count` columns of B: [k][width], zero past the end. Dense ones have a loop
/// of their own, which becomes vectors.
template <typename T>
void TypedGemm<T>::packPanel(const T *from, int64_t count, Sum *to) const {
  for (int64_t k = 0; k < desc.k; ++k, to += width) {
    const T *row = from + k * desc.b_strides[r];
    int64_t stride = desc.b_strides[r + 1];
    if (stride == 1)
      for (int64_t j = 0; j < count; ++j)
        to[j] = Sum(E::load(row[j]));
    else
      for (int64_t j = 0; j < count; ++j)
        to[j] = Sum(E::load(row[j * stride]));
    std::fill(to + count, to + width, Sum(0));
  }
}

template <typename T>
void TypedGemm<T>::storeTile(const Sum *sums, int64_t row, int64_t rows,
                             int64_t column, int64_t columns,
                             int64_t offset) const {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Sum sum = sums[i * width + j];
      if (desc.bias)
        sum += Sum(E::load(bias[column + j]));
      int64_t at = offset + (row + i) * desc.c_strides[r] +
                   (column + j) * desc.c_strides[r + 1];
      sum = Sum(activate(desc.activation, Compute(sum)));
      if (desc.addend)
        sum += Sum(E::load(addend[at]));
      c[at] = E::store(Compute(sum));
    }
}

template <typename T>
void TypedGemm<T>::runBlock(int64_t batch, int64_t row, Range columns,
                            Sum *scratch) const {
  int64_t rows = std::min(rowsPerBlock, desc.m - row);
  Sum *packedRows = scratch, *panel = scratch + rowsPerBlock * desc.k;
  packRows(a + gemmOffset(desc, desc.a_strides, batch) +
               row * desc.a_strides[r],
           rows, packedRows);
  const T *matrix = b + gemmOffset(desc, desc.b_strides, batch);
  int64_t offset = gemmOffset(desc, desc.c_strides, batch);
  alignas(vectorBytes) Sum sums[tileRows * width];
  for (int64_t j = columns.begin; j < columns.end; j += width) {
    int64_t count = std::min(width, columns.end - j);
    packPanel(matrix + j * desc.b_strides[r + 1], count, panel);
    for (int64_t i = 0; i < rows; i += tileRows) {
      tile(desc.k, packedRows + i * desc.k, panel, sums);
      storeTile(sums, row + i, std::min(tileRows, rows - i), j, count, offset);
    }
  }
}

} // namespace

int64_t blockedGemmScratch(const aprt_gemm_desc &desc) {
  int64_t bytes = 0;
  visitDtype(desc.dtype, [&](auto example) {
    using P = TypedGemm<decltype(example)>;
    int64_t sum = sizeof(typename P::Sum);
    bytes = (blockRows(desc, sum) + P::width) * desc.k * sum;
  });
  return bytes;
}

void blockedGemm(const aprt_gemm_desc &desc, const void *a, const void *b,
                 const void *bias, const void *addend, void *c,
                 ThreadPool &pool, const Workspace &workspace) {
  visitDtype(desc.dtype, [&](auto example) {
    TypedGemm<decltype(example)>(desc, a, b, bias, addend, c)
        .run(pool, workspace);
  });
}

} // namespace autopar::runtime
