//===- Evaluate.h - Semantics of each compute op ----------------*- C++ -*-===//
//
// Each op has an overload of `evaluate` in the file of its family. Operands and
// result types are verified. An overload that returns a tensor without a type
// says that the op is not defined for these types.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_DIALECT_INTERPRETER_EVALUATE_H
#define AUTOPAR_LIB_DIALECT_INTERPRETER_EVALUATE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Tensor.h"
#include "autopar/Dialect/OpTable.h"

namespace autopar::interpreter {

using Operands = llvm::ArrayRef<const Tensor *>;

/// Overloads `Tensor evaluate(FooOp op, Operands in)` of each family of ops.
using EvaluateTable = OpTable<Tensor, Operands>;
void addElementwise(EvaluateTable &table); // Elementwise.cpp
void addMovement(EvaluateTable &table);    // Movement.cpp
void addContraction(EvaluateTable &table); // Contraction.cpp
void addReduction(EvaluateTable &table);   // Reduction.cpp

/// Zeros of the type of the op's only result.
inline Tensor emptyResult(mlir::Operation *op) {
  return Tensor(mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType()));
}

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_DIALECT_INTERPRETER_EVALUATE_H
