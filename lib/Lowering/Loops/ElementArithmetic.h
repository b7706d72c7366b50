//===- ElementArithmetic.h - Arithmetic on elements -------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_LOOPS_ELEMENTARITHMETIC_H
#define AUTOPAR_LIB_LOWERING_LOOPS_ELEMENTARITHMETIC_H

#include "LoopEmitter.h"

namespace autopar::loops {

/// Arithmetic on computed values. Additions may be fused with products. Nothing
/// else is relaxed, because masks of models have infinities and NaN.
struct Arithmetic {
  LoopEmitter &emit;
  mlir::arith::FastMathFlags flags =
      mlir::arith::FastMathFlags::contract | mlir::arith::FastMathFlags::nsz;

  mlir::Value add(mlir::Value a, mlir::Value b) {
    return emit.make<mlir::arith::AddFOp>(a, b, flags);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return emit.make<mlir::arith::SubFOp>(a, b, flags);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return emit.make<mlir::arith::MulFOp>(a, b, flags);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return emit.make<mlir::arith::DivFOp>(a, b);
  }
  mlir::Value number(mlir::Value like, double value) {
    return emit.constant(like.getType(), value);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return emit.make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return emit.make<mlir::arith::SelectOp>(condition, a, b);
  }
  mlir::Value exp(mlir::Value x) { return emit.make<mlir::math::ExpOp>(x); }
  mlir::Value erf(mlir::Value x);
  mlir::Value tanh(mlir::Value x) { return emit.make<mlir::math::TanhOp>(x); }
  mlir::Value sigmoid(mlir::Value x);
};

/// Functions that integers have; what is for floats alone gives x.
mlir::Value emitIntegerUnary(Arithmetic a, UnaryKind kind, mlir::Value x,
                             bool isUnsigned);
mlir::Value emitIntegerBinary(Arithmetic a, BinaryKind kind, mlir::Value x,
                              mlir::Value y, bool isUnsigned);

} // namespace autopar::loops

#endif // AUTOPAR_LIB_LOWERING_LOOPS_ELEMENTARITHMETIC_H
