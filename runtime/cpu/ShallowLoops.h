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
/// A vector anywhere among floats.
typedef float AnyVector __attribute__((vector_size(vectorBytes),
                                       aligned(sizeof(float)), may_alias));
/// Rows of outputs at a time, and taps below one another.
inline constexpr int64_t rowsAtOnce = 4, mostTaps = 7;

/// Taps below one another: the first reads `offset` from the place of the first
/// output, the next ones a row further each.
struct TapColumn {
  int64_t offset, count;
};

/// The sums of `rows` rows of outputs, sumPitch apart and sumPitch long, of
/// planes whose rows are `pitch` apart, and `bias` more. `weights` of all
/// columns of taps.
using AddFunction = void (*)(const float *from, int64_t pitch,
                             const std::vector<TapColumn> &taps,
                             const float *weights, float bias, int64_t rows,
                             float *sums, int64_t sumPitch);

/// body(i) for the constants i from `i` to `end`: what it indexes stays in
/// registers.
template <int64_t i, int64_t end, typename Body>
[[gnu::always_inline]] inline void unroll(const Body &body) {
  if constexpr (i < end) {
    body(std::integral_constant<int64_t, i>());
    unroll<i + 1, end>(body);
  }
}

/// Adds the columns of `count` taps to rowsAtOnce rows of `vectors` vectors:
/// each vector that is loaded serves all rows that read it. If it is one
/// register (`wide`), it is held there: loads across lines of the cache are
/// slower than the sums.
template <bool wide, int64_t count, int64_t vectors>
[[gnu::always_inline]] inline void
addBlock(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
         const float *weights, float *sums, int64_t sumPitch) {
  constexpr int64_t rows = rowsAtOnce;
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
        Vector x = *reinterpret_cast<const AnyVector *>(at + v * lanes);
#ifndef __clang__ // whose lambdas do not have the target of their function
        if constexpr (wide && count > 1)
          asm("" : "+v"(x));
#endif
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

/// The columns of `count` taps, for rowsAtOnce rows.
template <bool wide, int64_t count>
[[gnu::always_inline]] inline void
addColumns(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
           const float *weights, float *sums, int64_t sumPitch) {
  if (std::none_of(taps.begin(), taps.end(), [](const TapColumn &column) {
        return column.count == count;
      }))
    return;
  int64_t i = 0;
  for (; i + 2 * lanes <= sumPitch; i += 2 * lanes)
    addBlock<wide, count, 2>(from + i, pitch, taps, weights, sums + i,
                             sumPitch);
  if (i < sumPitch)
    addBlock<wide, count, 1>(from + i, pitch, taps, weights, sums + i,
                             sumPitch);
}

/// Adds all taps to `vectors` vectors of one row, of which no two read the
/// same.
template <int64_t vectors>
[[gnu::always_inline]] inline void
addVectors(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
           const float *weights, float bias, float *sums) {
  Vector total[vectors];
  unroll<0, vectors>([&](auto v) __attribute__((always_inline)) {
    total[v] = Vector{} + bias;
  });
  for (const TapColumn &column : taps) {
    const float *at = from + column.offset;
    for (int64_t tap = 0; tap < column.count; ++tap, at += pitch) {
      float weight = *weights++;
      unroll<0, vectors>([&](auto v) __attribute__((always_inline)) {
        total[v] +=
            *reinterpret_cast<const AnyVector *>(at + v * lanes) * weight;
      });
    }
  }
  unroll<0, vectors>([&](auto v) __attribute__((always_inline)) {
    *reinterpret_cast<AnyVector *>(sums + v * lanes) = total[v];
  });
}

template <bool wide>
[[gnu::always_inline]] inline void
addRows(const float *from, int64_t pitch, const std::vector<TapColumn> &taps,
        const float *weights, float bias, int64_t rows, float *sums,
        int64_t sumPitch) {
  int64_t row = 0;
  for (; row + rowsAtOnce <= rows; row += rowsAtOnce) {
    float *to = sums + row * sumPitch;
    std::fill_n(to, rowsAtOnce * sumPitch, bias);
    unroll<1, mostTaps + 1>([&](auto count) __attribute__((always_inline)) {
      addColumns<wide, count>(from + row * pitch, pitch, taps, weights, to,
                              sumPitch);
    });
  }
  for (; row < rows; ++row) {
    const float *at = from + row * pitch;
    float *to = sums + row * sumPitch;
    int64_t i = 0;
    for (; i + 8 * lanes <= sumPitch; i += 8 * lanes)
      addVectors<8>(at + i, pitch, taps, weights, bias, to + i);
    for (; i + 2 * lanes <= sumPitch; i += 2 * lanes)
      addVectors<2>(at + i, pitch, taps, weights, bias, to + i);
    if (i < sumPitch)
      addVectors<1>(at + i, pitch, taps, weights, bias, to + i);
  }
}

/// sums[i] = activation(sums[i]), for `count` i, a multiple of lanes.
using FinishFunction = void (*)(int64_t activation, float *sums, int64_t count);

[[gnu::always_inline]] inline void finishSums(int64_t activation, float *sums,
                                              int64_t count) {
  for (int64_t i = 0; i < count; i += lanes) {
    Vector x;
    std::memcpy(&x, sums + i, sizeof(x));
    ActivationLanes::apply(activation, x);
    std::memcpy(sums + i, &x, sizeof(x));
  }
}

/// Copies `rows` lines of `count` floats that are so many floats apart.
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
  // The last part overlaps the one before.
  for (int64_t next = 0; pairs >= lanes && next < pairs; next += lanes) {
    int64_t i = std::min(next, pairs - lanes);
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
  for (int64_t i = 0; pairs < lanes && i < pairs; ++i) {
    even[i] = from[2 * i];
    odd[i] = from[2 * i + 1];
  }
}

} // namespace autopar::runtime::shallow

#endif // AUTOPAR_RUNTIME_CPU_SHALLOWLOOPS_H
