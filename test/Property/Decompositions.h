//===- Decompositions.h - Composites split where they reduce ----*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_DECOMPOSITIONS_H
#define AUTOPAR_TEST_PROPERTY_DECOMPOSITIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace autopar::property {

/// What was compared.
struct DecompositionCounts {
  int64_t composites = 0; // ops of different attributes, shapes and types
  int64_t splits = 0;     // local programs of these
  int64_t equal = 0;      // runs of these that give what the whole gives
  int64_t failed = 0;
};

/// Every composite of the dialect, in each way to split what it reduces (all
/// that `validateRule` draws: even, uneven and empty blocks), on random values
/// and on the edges: rows and blocks of -inf, +inf, NaN, equal and large
/// values. The decomposed and partitioned program passes the checker and gives
/// what the composite gives. Prints what differs.
DecompositionCounts testDecompositions(mlir::MLIRContext &context);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_DECOMPOSITIONS_H
