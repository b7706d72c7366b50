//===- ShallowLoops.h - The inner loops of shallow convolutions -*- C++ -*-===//
//
// All is inlined into functions for one target (Lanes.h).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_SHALLOWLOOPS_H
#define AUTOPAR_RUNTIME_CPU_SHALLOWLOOPS_H

#include "ActivationLanes.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace autopar::runtime::shallow {

typedef float Vector __attribute__((vector_size(vectorBytes)));
inline constexpr int64_t lanes = vectorBytes / int64_t(sizeof(float));
/// Rows of outputs at a time, and taps below one another.
inline constexpr int64_t rowsAtOnce = 4, mostTaps = 7;

/// Taps below one another: the first reads `offset` from the place of the first
/// output, the next ones a row further each.
struct TapColumn {
  int64_t offset, count;
};

/// The sums of `rows` rows of outputs, sumPitch apart and sumPitch long, of
/// planes whose rows are `pitch` apart. `weights` of all columns of taps.
using AddFunction = void (*)(const float *from, int64_t pitch,
                             const std::vector<TapColumn> &taps,
                             const float *weights, int64_t rows, float *sums,
                             int64_t sumPitch);

/// body(i) for the constants i from `i` to `end`: what it indexes stays in
/// registers.
template <int64_t i, int64_t end, typename Body>
[[gnu::always_inline]] inline void unroll(const Body &body) {
  if constexpr (i < end) {
    body(std::integral_constant<int64_t, i>());
    unroll<i + 1, end>(body);
  }
}

/// Adds the columns of `count` taps to `rows` rows of `vectors` vectors.
template <int64_t count, int64_t rows, int64_t vectors>
[[gnu::always_inline]] inline void
addBlock(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
         const float *weights, float *sums, int64_t sumPitch) {
  Vector total[rows * vectors];
  unroll<0, rows>([&](auto r) __attribute__((always_inline)) {
    unroll<0, vectors>([&](auto v) __attribute__((always_inline)) {
      std::memcpy(&total[r * vectors + v], sums + r * sumPitch + v * lanes,
                  sizeof(Vector));
    });
  });
  for (const TapColumn &column : taps) {
    if (column.count != count) {
      weights += column.count;
      continue;
    }
    const float *at = from + column.offset;
    unroll<0, rows + count - 1>([&](auto line) __attribute__((always_inline)) {
      unroll<0, vectors>([&](auto v) __attribute__((always_inline)) {
        Vector x;
        std::memcpy(&x, at + v * lanes, sizeof(x));
        unroll<0, rows>([&](auto r) __attribute__((always_inline)) {
          if constexpr (line >= r && line - r < count)
            total[r * vectors + v] += x * weights[line - r];
        });
      });
      at += pitch;
    });
    weights += count;
  }
  unroll<0, rows>([&](auto r) __attribute__((always_inline)) {
    unroll<0, vectors>([&](auto v) __attribute__((always_inline)) {
      std::memcpy(sums + r * sumPitch + v * lanes, &total[r * vectors + v],
                  sizeof(Vector));
    });
  });
}

/// As many blocks of `vectors` vectors as fit from `column` on.
template <int64_t count, int64_t rows, int64_t vectors>
[[gnu::always_inline]] inline void
addBlocks(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
          const float *weights, float *sums, int64_t sumPitch,
          int64_t &column) {
  for (; column + vectors * lanes <= sumPitch; column += vectors * lanes)
    addBlock<count, rows, vectors>(from + column, pitch, taps, weights,
                                   sums + column, sumPitch);
}

/// The columns of `count` taps.
template <int64_t count>
[[gnu::always_inline]] inline void
addColumns(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
           const float *weights, int64_t rows, float *sums, int64_t sumPitch) {
  if (std::none_of(taps.begin(), taps.end(), [](const TapColumn &column) {
        return column.count == count;
      }))
    return;
  int64_t row = 0;
  for (; row + rowsAtOnce <= rows; row += rowsAtOnce) {
    const float *at = from + row * pitch;
    float *to = sums + row * sumPitch;
    int64_t column = 0;
    addBlocks<count, rowsAtOnce, 2>(at, pitch, taps, weights, to, sumPitch,
                                    column);
    addBlocks<count, rowsAtOnce, 1>(at, pitch, taps, weights, to, sumPitch,
                                    column);
  }
  for (; row < rows; ++row) {
    const float *at = from + row * pitch;
    float *to = sums + row * sumPitch;
    int64_t column = 0;
    addBlocks<count, 1, 8>(at, pitch, taps, weights, to, sumPitch, column);
    addBlocks<count, 1, 2>(at, pitch, taps, weights, to, sumPitch, column);
    addBlocks<count, 1, 1>(at, pitch, taps, weights, to, sumPitch, column);
  }
}

[[gnu::always_inline]] inline void addRows(const float *from, int64_t pitch,
                                           const std::vector<TapColumn> &taps,
                                           const float *weights, int64_t rows,
                                           float *sums, int64_t sumPitch) {
  std::fill_n(sums, rows * sumPitch, 0.0f);
  unroll<1, mostTaps + 1>([&](auto count) __attribute__((always_inline)) {
    addColumns<count>(from, pitch, taps, weights, rows, sums, sumPitch);
  });
}

/// sums[i] = activation(sums[i] + bias), for `count` i, a multiple of lanes.
using FinishFunction = void (*)(int64_t activation, float bias, float *sums,
                                int64_t count);

[[gnu::always_inline]] inline void finishSums(int64_t activation, float bias,
                                              float *sums, int64_t count) {
  for (int64_t i = 0; i < count; i += lanes) {
    Vector x;
    std::memcpy(&x, sums + i, sizeof(x));
    x += bias;
    ActivationLanes::apply(activation, x);
    std::memcpy(sums + i, &x, sizeof(x));
  }
}

/// Copies `rows` lines of `count` floats that lie so many floats apart.
using CopyFunction = void (*)(const float *from, int64_t fromPitch, float *to,
                              int64_t toPitch, int64_t rows, int64_t count);

template <int64_t width>
[[gnu::always_inline]] inline void copyLine(const float *from, float *to,
                                            int64_t count) {
  if constexpr (width == 1) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i];
  } else {
    if (count < width)
      return copyLine<width / 2>(from, to, count);
    // The last part overlaps the one before.
    for (int64_t i = 0; i < count; i += width) {
      int64_t at = std::min(i, count - width);
      std::memcpy(to + at, from + at, width * sizeof(float));
    }
  }
}

[[gnu::always_inline]] inline void copyLines(const float *from,
                                             int64_t fromPitch, float *to,
                                             int64_t toPitch, int64_t rows,
                                             int64_t count) {
  for (int64_t row = 0; row < rows; ++row)
    copyLine<lanes>(from + row * fromPitch, to + row * toPitch, count);
}

/// Copies elements 0, 2, ... of `from` to `even` and the others to `odd`, of
/// `pairs` pairs.
using PartFunction = void (*)(const float *from, int64_t pairs, float *even,
                              float *odd);

[[gnu::always_inline]] inline void partLine(const float *from, int64_t pairs,
                                            float *even, float *odd) {
  int64_t i = 0;
  for (; i + lanes <= pairs; i += lanes) {
    Vector a, b;
    std::memcpy(&a, from + 2 * i, sizeof(a));
    std::memcpy(&b, from + 2 * i + lanes, sizeof(b));
    Vector first = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16,
                                           18, 20, 22, 24, 26, 28, 30);
    Vector second = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17,
                                            19, 21, 23, 25, 27, 29, 31);
    std::memcpy(even + i, &first, sizeof(first));
    std::memcpy(odd + i, &second, sizeof(second));
  }
  for (; i < pairs; ++i) {
    even[i] = from[2 * i];
    odd[i] = from[2 * i + 1];
  }
}

} // namespace autopar::runtime::shallow

#endif // AUTOPAR_RUNTIME_CPU_SHALLOWLOOPS_H
