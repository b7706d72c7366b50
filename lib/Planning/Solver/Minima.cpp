//===- Minima.cpp - Minima over tables of costs, vectorised ---------------===//

#include "Minima.h"
#include "autopar/Planning/Solver/Problem.h"
#include <algorithm>
#include <limits>

using namespace llvm;

// These are loops and not vector types: a compiler splits a vector type wider
// than the host's into scalars.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
// The loader chooses the best code for the host; all give the same numbers.
#define AUTOPAR_VECTOR_CLONES                                                  \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define AUTOPAR_VECTOR_CLONES
#endif

namespace autopar {

AUTOPAR_VECTOR_CLONES
double mostExcess(ArrayRef<double> better, ArrayRef<double> worse) {
  assert(better.size() == worse.size());
  const double *more = better.data(), *less = worse.data();
  double most = -kIllegal;
  // The difference of two illegal costs is NaN, which never exceeds `most`.
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < better.size(); ++i)
    most = std::max(most, more[i] - less[i]);
  // A compiler may start lanes at the lowest number instead of -kIllegal.
  return most > std::numeric_limits<double>::lowest() ? most : -kIllegal;
}

AUTOPAR_VECTOR_CLONES
void leastOfRows(const float *cells, const float *ofColumns, size_t columns,
                 float *result, size_t rows) {
  for (size_t row = 0; row < rows; ++row, cells += columns) {
    float least = std::numeric_limits<float>::infinity();
#pragma omp simd reduction(min : least)
    for (size_t column = 0; column < columns; ++column)
      least = std::min(least, cells[column] + ofColumns[column]);
    // A compiler may start lanes at the largest number instead.
    result[row] = least < std::numeric_limits<float>::max()
                      ? least
                      : std::numeric_limits<float>::infinity();
  }
}

/// Takes values: with references a loop over several sums is not vectorised.
static inline float lesser(float a, float b) { return b < a ? b : a; }

AUTOPAR_VECTOR_CLONES
void leastOfColumns(const float *cells, const float *ofRows, size_t columns,
                    float *__restrict result, size_t rows) {
  std::fill_n(result, columns, std::numeric_limits<float>::infinity());
  constexpr size_t kRows = 4; // rows per pass over the result
  size_t row = 0;
  for (; row + kRows <= rows; row += kRows, cells += kRows * columns) {
    const float *first = cells, *second = first + columns,
                *third = second + columns, *fourth = third + columns;
    const float *given = ofRows + row;
#pragma omp simd
    for (size_t column = 0; column < columns; ++column) {
      float least = result[column];
      least = lesser(least, first[column] + given[0]);
      least = lesser(least, second[column] + given[1]);
      least = lesser(least, third[column] + given[2]);
      result[column] = lesser(least, fourth[column] + given[3]);
    }
  }
  for (; row < rows; ++row, cells += columns) {
#pragma omp simd
    for (size_t column = 0; column < columns; ++column)
      result[column] = std::min(result[column], cells[column] + ofRows[row]);
  }
}

AUTOPAR_VECTOR_CLONES
double leastOfAll(const double *cells, const double *ofRows,
                  const double *ofColumns, size_t columns, size_t rows) {
  double least = kIllegal;
  for (size_t row = 0; row < rows; ++row, cells += columns) {
#pragma omp simd reduction(min : least)
    for (size_t column = 0; column < columns; ++column)
      least = std::min(least, cells[column] + ofRows[row] + ofColumns[column]);
  }
  // A compiler may start lanes at the largest number instead of kIllegal.
  return least < std::numeric_limits<double>::max() ? least : kIllegal;
}

AUTOPAR_VECTOR_CLONES
void leastOfBoth(const double *cells, const double *ofRows,
                 const double *ofColumns, size_t columns, double *rowsLeast,
                 double *__restrict columnsLeast, size_t rows) {
  for (size_t row = 0; row < rows; ++row, cells += columns) {
    double least = kIllegal;
#pragma omp simd reduction(min : least)
    for (size_t column = 0; column < columns; ++column) {
      double cost = cells[column] + ofRows[row] + ofColumns[column];
      least = std::min(least, cost);
      columnsLeast[column] = std::min(columnsLeast[column], cost);
    }
    // A compiler may start lanes at the largest number instead.
    rowsLeast[row] =
        least < std::numeric_limits<double>::max() ? least : kIllegal;
  }
}

} // namespace autopar
