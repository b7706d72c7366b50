//===- Minima.h - Minima over tables of costs, vectorised -----------------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MINIMA_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MINIMA_H

#include "llvm/ADT/ArrayRef.h"

namespace autopar {

/// By how much `better` exceeds `worse` at most, both of as many choices;
/// positions at which both are kIllegal are passed over, -kIllegal if there is
/// no other.
double mostExcess(llvm::ArrayRef<double> better, llvm::ArrayRef<double> worse);

// Of a table, row after row; results overlap nothing else.

/// Per row its least cell beside what the columns were given.
void leastOfRows(const float *cells, const float *ofColumns, size_t columns,
                 float *result, size_t rows);
/// Per column its least cell beside what the rows were given.
void leastOfColumns(const float *cells, const float *ofRows, size_t columns,
                    float *result, size_t rows);
/// The least of all cells: one costs what it says and what its row and its
/// column were given.
double leastOfAll(const double *cells, const double *ofRows,
                  const double *ofColumns, size_t columns, size_t rows);
/// Per row and per column the least of such cells. `columnsLeast` is given, and
/// taken down to that.
void leastOfBoth(const double *cells, const double *ofRows,
                 const double *ofColumns, size_t columns, double *rowsLeast,
                 double *columnsLeast, size_t rows);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MINIMA_H
