//===- Gemv.cpp - A matrix times a vector ---------------------------------===//

#include "Gemv.h"

#include "Activation.h"
#include "ActivationLanes.h"
#include "VectorSums.h"

namespace autopar::runtime {

namespace {

/// Bytes of a matrix that are worth a thread.
constexpr int64_t bytesPerThread = 96 << 10;
/// Results whose sums stay in the first cache.
constexpr int64_t resultsAtOnce = 4096;

/// The GEMV in its own words: results[i] = sum over k of matrix[i][k] *
/// vector[k], once per batch. Strides in elements.
struct Shape {
  bool matrixIsA;
  int64_t rows, depth, batches;
  int64_t rowStride, depthStride, vectorStride, resultStride;

  explicit Shape(const aprt_gemm_desc &desc)
      : matrixIsA(desc.n == 1 && desc.m > 1), rows(matrixIsA ? desc.m : desc.n),
        depth(desc.k), batches(gemmBatches(desc)) {
    const int64_t *a = desc.a_strides + desc.batch_rank;
    const int64_t *b = desc.b_strides + desc.batch_rank;
    const int64_t *c = desc.c_strides + desc.batch_rank;
    rowStride = matrixIsA ? a[0] : b[1];
    depthStride = matrixIsA ? a[1] : b[0];
    vectorStride = matrixIsA ? b[0] : a[1];
    resultStride = matrixIsA ? c[0] : c[1];
    if (depth == 1)
      depthStride = rowStride == 1 ? rows + 1 : 1; // not read
    if (rows == 1 && depthStride != 1)
      rowStride = 1; // not read
  }
};

//===----------------------------------------------------------------------===//
// The inner loops for this host
//===----------------------------------------------------------------------===//

/// What is done to `count` finished sums; only float has more than ReLU.
template <typename Sum>
using ActivateFunction = void (*)(int64_t activation, Sum *sums, int64_t count);

[[gnu::always_inline]] inline void activateFloats(int64_t activation,
                                                  float *sums, int64_t count) {
  ActivationLanes::Floats x;
  constexpr int64_t lanes = sizeof(x) / sizeof(float);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    std::memcpy(&x, sums + i, sizeof(x));
    ActivationLanes::apply(activation, x);
    std::memcpy(sums + i, &x, sizeof(x));
  }
  if (i == count)
    return;
  x = ActivationLanes::Floats{};
  for (int64_t lane = 0; i + lane < count; ++lane)
    x[lane] = sums[i + lane];
  ActivationLanes::apply(activation, x);
  for (int64_t lane = 0; i + lane < count; ++lane)
    sums[i + lane] = x[lane];
}

template <typename T>
[[gnu::always_inline]] inline void activateSums(int64_t activation,
                                                SumOf<T> *sums, int64_t count) {
  using Compute = typename Element<T>::Compute;
  if constexpr (std::is_same_v<Compute, float>)
    activateFloats(activation, sums, count);
  else
    for (int64_t i = 0; i < count; ++i)
      sums[i] = SumOf<T>(activate(activation, Compute(sums[i])));
}

/// The loops that this host runs best.
template <typename T> struct Functions {
  SumFunction<T> sum, sumAsRows;
  ActivateFunction<SumOf<T>> activate;
};

#define APRT_FUNCTIONS(name, target, fused)                                    \
  template <typename T>                                                        \
  target void sum##name(const T *matrix, int64_t rowStride,                    \
                        int64_t depthStride, const SumOf<T> *vector,           \
                        int64_t rows, int64_t depth, SumOf<T> *sums) {         \
    VectorSums<T, fused>::run(matrix, rowStride, depthStride, vector, rows,    \
                              depth, sums);                                    \
  }                                                                            \
  template <typename T>                                                        \
  target void sumAsRows##name(const T *matrix, int64_t, int64_t depthStride,   \
                              const SumOf<T> *vector, int64_t rows,            \
                              int64_t depth, SumOf<T> *sums) {                 \
    VectorSums<T, fused>::runAsRows(matrix, depthStride, vector, rows, depth,  \
                                    sums);                                     \
  }                                                                            \
  template <typename T>                                                        \
  target void activate##name(int64_t activation, SumOf<T> *sums,               \
                             int64_t count) {                                  \
    activateSums<T>(activation, sums, count);                                  \
  }

#if defined(__x86_64__)
APRT_FUNCTIONS(Plain, , false)
APRT_FUNCTIONS(Avx2, [[gnu::target("avx2,fma")]], true)
APRT_FUNCTIONS(Avx512,
               [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]], true)
#else
APRT_FUNCTIONS(Plain, , true)
#endif
#undef APRT_FUNCTIONS

template <typename T> Functions<T> chooseFunctions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return {sumAvx512<T>, sumAsRowsAvx512<T>, activateAvx512<T>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {sumAvx2<T>, sumAsRowsAvx2<T>, activateAvx2<T>};
#endif
  return {sumPlain<T>, sumAsRowsPlain<T>, activatePlain<T>};
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// One GEMV in elements of type T.
template <typename T> class TypedGemv {
public:
  using Sum = SumOf<T>;

  TypedGemv(const aprt_gemm_desc &desc, const GemmOperands &operands,
            const PackedMatrix *packed)
      : desc(desc), shape(desc), packed(packed),
        matrix(
            static_cast<const T *>(shape.matrixIsA ? operands.a : operands.b)),
        vector(
            static_cast<const T *>(shape.matrixIsA ? operands.b : operands.a)),
        bias(static_cast<const T *>(operands.bias)),
        addend(static_cast<const T *>(operands.addend)),
        c(static_cast<T *>(operands.c)), functions(chooseFunctions<T>()) {}

  /// The results of all batches, one after the other, in equal ranges.
  void run(ThreadPool &pool, const Workspace &workspace) const {
    constexpr int64_t line = 16; // results
    int64_t total = shape.batches * shape.rows;
    int64_t bytes = total * shape.depth * int64_t(sizeof(T));
    int64_t pieces =
        std::clamp<int64_t>(bytes / bytesPerThread, 1, pool.threads());
    auto border = [&](int64_t piece) {
      return piece == pieces ? total : total * piece / pieces / line * line;
    };
    pool.run(pieces, [&](int64_t piece) {
      runRange(border(piece), border(piece + 1),
               static_cast<Sum *>(workspace.block(piece)));
    });
  }

private:
  void runRange(int64_t begin, int64_t end, Sum *scratch) const {
    alignas(vectorBytes) Sum sums[resultsAtOnce];
    while (begin < end) {
      int64_t batch = begin / shape.rows, row = begin % shape.rows;
      int64_t rows = std::min(end - begin, shape.rows - row);
      const Sum *dense = denseVector(batch, scratch);
      for (begin += rows; rows > 0; row += resultsAtOnce, rows -= resultsAtOnce)
        runRows(dense, batch, row, std::min(rows, resultsAtOnce), sums);
    }
  }

  /// The parts' blocks of columns, one after the other, in the order of terms
  /// that the plain matrix would have.
  void sumPacked(const Sum *dense, int64_t number, int64_t row, int64_t rows,
                 Sum *sums) const {
    SumFunction<T> sum =
        packed->plainIsTransposed ? functions.sumAsRows : functions.sum;
    for (const PackedMatrix::Part &part : packed->parts) {
      ColumnBlocks blocks = *columnBlocks(part.layout);
      const T *base = reinterpret_cast<const T *>(
          static_cast<const char *>(part.data.data()) +
          number * part.matrixBytes);
      int64_t end = std::min(row + rows, part.columns.end);
      for (int64_t at = std::max(row, part.columns.begin); at < end;) {
        int64_t column = at - part.columns.begin, in = column % blocks.width;
        int64_t count = std::min(end - at, blocks.width - in);
        sum(base + column / blocks.width * blocks.blockStride + in, 1,
            blocks.rowStride, dense, count, shape.depth, sums + (at - row));
        at += count;
      }
    }
  }

  void runRows(const Sum *dense, int64_t batch, int64_t row, int64_t rows,
               Sum *sums) const {
    int64_t before = offset(desc.a_strides, desc.b_strides, batch);
    if (packed)
      sumPacked(dense, before / (desc.k * desc.n), row, rows, sums);
    else
      functions.sum(matrix + before + row * shape.rowStride, shape.rowStride,
                    shape.depthStride, dense, rows, shape.depth, sums);
    if (desc.bias)
      for (int64_t i = 0; i < rows; ++i)
        sums[i] += Sum(Element<T>::load(bias[shape.matrixIsA ? 0 : row + i]));
    if (desc.activation != APRT_ACT_NONE)
      functions.activate(desc.activation, sums, rows);
    int64_t at =
        gemmOffset(desc, desc.c_strides, batch) + row * shape.resultStride;
    for (int64_t i = 0; i < rows; ++i, at += shape.resultStride) {
      if (desc.addend)
        sums[i] += Sum(Element<T>::load(addend[at]));
      c[at] = Element<T>::store(typename Element<T>::Compute(sums[i]));
    }
  }

  /// The vector of a batch as sums, one after the other.
  const Sum *denseVector(int64_t batch, Sum *scratch) const {
    const T *from = vector + offset(desc.b_strides, desc.a_strides, batch);
    if constexpr (std::is_same_v<typename Element<T>::Compute, T>)
      if (shape.vectorStride == 1 || shape.depth == 1)
        return reinterpret_cast<const Sum *>(from); // of the same size
    for (int64_t k = 0; k < shape.depth; ++k)
      scratch[k] = Sum(Element<T>::load(from[k * shape.vectorStride]));
    return scratch;
  }

  int64_t offset(const int64_t *ifA, const int64_t *ifB, int64_t batch) const {
    return gemmOffset(desc, shape.matrixIsA ? ifA : ifB, batch);
  }

  const aprt_gemm_desc &desc;
  Shape shape;
  const PackedMatrix *packed;
  const T *matrix, *vector, *bias, *addend;
  T *c;
  Functions<T> functions;
};

} // namespace

bool isGemv(const aprt_gemm_desc &desc) {
  if (desc.m < 1 || desc.n < 1 || desc.k < 1 || (desc.m > 1 && desc.n > 1))
    return false;
  Shape shape(desc);
  return shape.depthStride == 1 || shape.rowStride == 1;
}

int64_t gemvScratch(const aprt_gemm_desc &desc) {
  int64_t bytes = 0;
  visitDtype(desc.dtype, [&](auto example) {
    bytes = desc.k * int64_t(sizeof(SumOf<decltype(example)>));
  });
  return bytes;
}

void gemv(const aprt_gemm_desc &desc, const GemmOperands &operands,
          ThreadPool &pool, const Workspace &workspace,
          const PackedMatrix *packed) {
  visitDtype(desc.dtype, [&](auto example) {
    TypedGemv<decltype(example)>(desc, operands, packed).run(pool, workspace);
  });
}

} // namespace autopar::runtime
