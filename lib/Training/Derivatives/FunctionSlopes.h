//===- FunctionSlopes.h - Slopes of functions of elements -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_DERIVATIVES_FUNCTIONSLOPES_H
#define AUTOPAR_LIB_TRAINING_DERIVATIVES_FUNCTIONSLOPES_H

#include "Derivatives.h"

namespace autopar {

/// A function where its derivative is built: inputs, value and gradient are of
/// f32 at least, for parts of slopes cancel.
struct FunctionCall {
  FunctionOp op;
  TensorBuilder &b;
  llvm::SmallVector<mlir::Value> inputs;
  mlir::Value y, g;
};

/// The slope at the only input.
mlir::Value acosSlope(FunctionCall &call);
mlir::Value acoshSlope(FunctionCall &call);
mlir::Value asinSlope(FunctionCall &call);
mlir::Value asinhSlope(FunctionCall &call);
mlir::Value atanhSlope(FunctionCall &call);
/// The slope of x between `low` and `high`; it is 0 at both ends.
mlir::Value betweenSlope(FunctionCall &call);
mlir::Value coshSlope(FunctionCall &call);
/// The slope of scale * x above 0, and of scale * alpha * (exp(rate * x) - 1)
/// at and below 0.
mlir::Value eluSlope(FunctionCall &call);
/// The slope of alpha * x + beta between 0 and 1.
mlir::Value hardSigmoidSlope(FunctionCall &call);
mlir::Value hardSwishSlope(FunctionCall &call);
mlir::Value sinhSlope(FunctionCall &call);
mlir::Value softplusSlope(FunctionCall &call);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_DERIVATIVES_FUNCTIONSLOPES_H
