//===- Evaluate.h - Semantics of each compute op ----------------*- C++ -*-===//
//
// One overload per op. Operands and result types are verified; an overload that
// returns a tensor without a type says that the op is not defined for them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_DIALECT_INTERPRETER_EVALUATE_H
#define AUTOPAR_LIB_DIALECT_INTERPRETER_EVALUATE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Tensor.h"

namespace autopar::interpreter {

using Operands = llvm::ArrayRef<const Tensor *>;

// Elementwise.cpp
Tensor evaluate(UnaryOp op, Operands in);
Tensor evaluate(BinaryOp op, Operands in);
Tensor evaluate(CompareOp op, Operands in);
Tensor evaluate(SelectOp op, Operands in);
Tensor evaluate(ConvertOp op, Operands in);
Tensor evaluate(ConstantOp op, Operands in);
Tensor evaluate(IotaOp op, Operands in);

// Movement.cpp
Tensor evaluate(BroadcastOp op, Operands in);
Tensor evaluate(ReshapeOp op, Operands in);
Tensor evaluate(TransposeOp op, Operands in);
Tensor evaluate(SliceOp op, Operands in);
Tensor evaluate(PadOp op, Operands in);
Tensor evaluate(ConcatOp op, Operands in);
Tensor evaluate(GatherOp op, Operands in);
Tensor evaluate(GatherElementsOp op, Operands in);
Tensor evaluate(GatherNdOp op, Operands in);
/// The same global value: how it is sharded does not matter here.
Tensor evaluate(ReshardOp op, Operands in);

// Contraction.cpp
Tensor evaluate(EinsumOp op, Operands in);
Tensor evaluate(ConvolutionOp op, Operands in);
Tensor evaluate(PoolOp op, Operands in);

// Reduction.cpp
Tensor evaluate(ReduceOp op, Operands in);
Tensor evaluate(ScanOp op, Operands in);
Tensor evaluate(TopKOp op, Operands in);
Tensor evaluate(SoftmaxOp op, Operands in);
Tensor evaluate(NormalizeOp op, Operands in);

/// Zeros of the type of the op's only result.
inline Tensor emptyResult(mlir::Operation *op) {
  return Tensor(mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType()));
}

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_DIALECT_INTERPRETER_EVALUATE_H
