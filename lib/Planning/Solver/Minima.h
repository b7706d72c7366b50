//===- Minima.h - Minima over tables of costs, vectorised -----------------===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_MINIMA_H
#define AUTOPAR_LIB_PLANNING_SOLVER_MINIMA_H

#include "llvm/ADT/ArrayRef.h"

namespace autopar {

/// Returns the largest difference `better[i] - worse[i]`; both have equally
/// many choices. Positions at which both are kIllegal are passed over;
/// -kIllegal if there is no other position.
double mostExcess(llvm::ArrayRef<double> better, llvm::ArrayRef<double> worse);

// The functions below read a table that is stored row after row; the results
// overlap no other argument.

/// Computes, per row, the least of its cells plus the numbers of their columns.
void leastOfRows(const float *cells, const float *ofColumns, size_t columns,
                 float *result, size_t rows);
/// Computes, per column, the least of its cells plus the numbers of their rows.
void leastOfColumns(const float *cells, const float *ofRows, size_t columns,
                    float *result, size_t rows);
/// Returns the least of all cells, each plus the numbers of its row and column.
double leastOfAll(const double *cells, const double *ofRows,
                  const double *ofColumns, size_t columns, size_t rows);
/// Computes, per row and per column, the least of such sums. `columnsLeast` has
/// values at the start, which are lowered to the minima.
void leastOfBoth(const double *cells, const double *ofRows,
                 const double *ofColumns, size_t columns, double *rowsLeast,
                 double *columnsLeast, size_t rows);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_MINIMA_H
