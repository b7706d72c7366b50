//===- VectorSums.h - Inner loops of a matrix times a vector ----*- C++ -*-===//
//
// A matrix whose rows are dense is multiplied row by row, several at a time;
// one whose columns are dense is swept along them, several columns at a time
// being added to sums that stay in the first cache. Either way the order in
// which one result's terms are added, and their rounding, depend on the
// length alone.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_VECTORSUMS_H
#define AUTOPAR_RUNTIME_CPU_VECTORSUMS_H

#include "Lanes.h"

#include <algorithm>

namespace autopar::runtime {

/// sums[i] = sum over k of matrix[i * rowStride + k * depthStride] * vector[k],
/// for i below `rows` and k below `depth`; one of the strides is 1.
template <typename T>
using SumFunction = void (*)(const T *matrix, int64_t rowStride,
                             int64_t depthStride, const SumOf<T> *vector,
                             int64_t rows, int64_t depth, SumOf<T> *sums);

/// The loops for a target; `fused`: it multiplies and adds with one rounding,
/// as the compiler does with vectors there.
template <typename T, bool fused> class VectorSums {
  using L = Lanes<T>;
  using Sum = SumOf<T>;
  using Vector = typename L::Vector;
  /// Two 16-bit sums would be multiplied as signed 32-bit ones, and overflow.
  using Wide = std::common_type_t<Sum, unsigned>;
  static constexpr int64_t rowsAtOnce = 4, columnsAtOnce = 8,
                           columnsAsRows = 4 * L::count;

public:
  [[gnu::always_inline]] static inline void
  run(const T *matrix, int64_t rowStride, int64_t depthStride,
      const Sum *vector, int64_t rows, int64_t depth, Sum *sums) {
    if (depthStride == 1)
      multiplyRows(matrix, rowStride, vector, rows, depth, sums);
    else
      addColumns(matrix, depthStride, vector, rows, depth, sums);
  }

  /// The same of a matrix whose columns are dense, in the order in which run()
  /// adds the terms of one whose rows are.
  [[gnu::always_inline]] static inline void
  runAsRows(const T *matrix, int64_t depthStride, const Sum *vector,
            int64_t rows, int64_t depth, Sum *sums) {
    int64_t i = 0;
    for (; i + columnsAsRows <= rows; i += columnsAsRows)
      multiplyColumns<columnsAsRows>(matrix + i, depthStride, vector,
                                     columnsAsRows, depth, sums + i);
    for (; i < rows; i += L::count)
      multiplyColumns<L::count>(matrix + i, depthStride, vector,
                                std::min(L::count, rows - i), depth, sums + i);
  }

private:
  [[gnu::always_inline]] static inline Sum multiplyAdd(Sum x, Sum y, Sum sum) {
    if constexpr (fused && std::is_same_v<Sum, float>)
      return __builtin_fmaf(x, y, sum);
    else if constexpr (fused && std::is_same_v<Sum, double>)
      return __builtin_fma(x, y, sum);
    else
      return Sum(Wide(sum) + Wide(x) * Wide(y));
  }

  [[gnu::always_inline]] static inline void at(const Sum *from, Vector &to) {
    std::memcpy(&to, from, sizeof(to));
  }

  [[gnu::always_inline]] static inline void
  multiplyRows(const T *matrix, int64_t stride, const Sum *vector, int64_t rows,
               int64_t depth, Sum *sums) {
    int64_t i = 0;
    for (; i + rowsAtOnce <= rows; i += rowsAtOnce)
      multiplySome<rowsAtOnce>(matrix + i * stride, stride, vector, depth,
                               sums + i);
    for (; i < rows; ++i)
      multiplySome<1>(matrix + i * stride, stride, vector, depth, sums + i);
  }

  template <int64_t count>
  [[gnu::always_inline]] static inline void
  multiplySome(const T *matrix, int64_t stride, const Sum *vector,
               int64_t depth, Sum *sums) {
    Vector even[count] = {}, odd[count] = {}, x;
    int64_t k = 0;
    for (; k + 2 * L::count <= depth; k += 2 * L::count) {
      Vector left, right;
      at(vector + k, left);
      at(vector + k + L::count, right);
#pragma GCC unroll 4
      for (int64_t r = 0; r < count; ++r) {
        L::load(matrix + r * stride + k, x);
        even[r] += x * left;
        L::load(matrix + r * stride + k + L::count, x);
        odd[r] += x * right;
      }
    }
    if (k + L::count <= depth) {
      Vector left;
      at(vector + k, left);
#pragma GCC unroll 4
      for (int64_t r = 0; r < count; ++r) {
        L::load(matrix + r * stride + k, x);
        even[r] += x * left;
      }
      k += L::count;
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < count; ++r)
      even[r] += odd[r];
    addLanes(even, std::integral_constant<int64_t, count>(), sums);
    for (; k < depth; ++k)
#pragma GCC unroll 4
      for (int64_t r = 0; r < count; ++r)
        sums[r] = multiplyAdd(Sum(Element<T>::load(matrix[r * stride + k])),
                              vector[k], sums[r]);
  }

  /// Adds a row's terms to the sums of `count` columns, `most` or less than a
  /// vector.
  template <int64_t most>
  [[gnu::always_inline]] static inline void
  addRow(const T *row, Sum factor, int64_t count, Vector *totals) {
    alignas(vectorBytes) T some[L::count] = {};
    if (count < L::count)
      row = std::copy_n(row, count, some) - count;
#pragma GCC unroll 4
    for (int64_t v = 0; v < most / L::count; ++v) {
      Vector x;
      L::load(row + v * L::count, x);
      totals[v] += x * factor;
    }
  }

  /// Each lane of multiplySome's sums, of all columns.
  template <int64_t most>
  [[gnu::always_inline]] static inline void
  multiplyColumns(const T *matrix, int64_t stride, const Sum *vector,
                  int64_t count, int64_t depth, Sum *sums) {
    constexpr int64_t lanes = L::count, vectors = most / lanes;
    Vector totals[2 * lanes * vectors] = {};
    int64_t k = 0;
    for (; k + 2 * lanes <= depth; k += 2 * lanes)
      for (int64_t lane = 0; lane < 2 * lanes; ++lane)
        addRow<most>(matrix + (k + lane) * stride, vector[k + lane], count,
                     totals + lane * vectors);
    if (k + lanes <= depth) {
      for (int64_t lane = 0; lane < lanes; ++lane)
        addRow<most>(matrix + (k + lane) * stride, vector[k + lane], count,
                     totals + lane * vectors);
      k += lanes;
    }
    for (int64_t half = lanes * vectors; half >= vectors; half /= 2)
      for (int64_t i = 0; i < half; ++i)
        totals[i] += totals[i + half];
    for (; k < depth; ++k)
      addRow<most>(matrix + k * stride, vector[k], count, totals);
    std::memcpy(sums, totals, size_t(count) * sizeof(Sum));
  }

  template <typename Count>
  [[gnu::always_inline]] static inline void addLanes(const Vector *vectors,
                                                     Count, Sum *sums) {
    if constexpr (Count::value == 4 && L::count == 16) {
      // Halves as in L::add, of all four vectors at once.
      Vector a = vectors[0], b = vectors[1], c = vectors[2], d = vectors[3];
      Vector ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17,
                                          18, 19, 20, 21, 22, 23) +
                  __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15,
                                          24, 25, 26, 27, 28, 29, 30, 31);
      Vector cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17,
                                          18, 19, 20, 21, 22, 23) +
                  __builtin_shufflevector(c, d, 8, 9, 10, 11, 12, 13, 14, 15,
                                          24, 25, 26, 27, 28, 29, 30, 31);
      Vector all = __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11, 16,
                                           17, 18, 19, 24, 25, 26, 27) +
                   __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15,
                                           20, 21, 22, 23, 28, 29, 30, 31);
      all += __builtin_shufflevector(all, all, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11,
                                     8, 9, 14, 15, 12, 13);
      all += __builtin_shufflevector(all, all, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11,
                                     10, 13, 12, 15, 14);
      for (int64_t r = 0; r < 4; ++r)
        sums[r] = all[4 * r];
    } else {
      for (int64_t r = 0; r < Count::value; ++r)
        sums[r] = L::add(vectors[r]);
    }
  }

  [[gnu::always_inline]] static inline void
  addColumns(const T *matrix, int64_t stride, const Sum *vector, int64_t rows,
             int64_t depth, Sum *sums) {
    std::fill_n(sums, rows, Sum(0));
    int64_t k = 0;
    for (; k + columnsAtOnce <= depth; k += columnsAtOnce)
      addSome<columnsAtOnce>(matrix + k * stride, stride, vector + k, rows,
                             sums);
    for (; k < depth; ++k)
      addSome<1>(matrix + k * stride, stride, vector + k, rows, sums);
  }

  template <int64_t count>
  [[gnu::always_inline]] static inline void
  addSome(const T *matrix, int64_t stride, const Sum *vector, int64_t rows,
          Sum *sums) {
    int64_t i = 0;
    for (; i + L::count <= rows; i += L::count) {
      Vector total, x;
      at(sums + i, total);
#pragma GCC unroll 8
      for (int64_t k = 0; k < count; ++k) {
        L::load(matrix + k * stride + i, x);
        total += x * vector[k];
      }
      std::memcpy(sums + i, &total, sizeof(total));
    }
    for (; i < rows; ++i)
#pragma GCC unroll 8
      for (int64_t k = 0; k < count; ++k)
        sums[i] = multiplyAdd(Sum(Element<T>::load(matrix[k * stride + i])),
                              vector[k], sums[i]);
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_VECTORSUMS_H
