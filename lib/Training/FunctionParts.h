//===- FunctionParts.h - What lies inside of functions ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_FUNCTIONPARTS_H
#define AUTOPAR_LIB_TRAINING_FUNCTIONPARTS_H

#include "autopar/Dialect/Dialect.h"

namespace autopar {

/// The float operand whose elements, and no others, the op's result has; null
/// if it computes.
mlir::Value movedBy(mlir::Operation *op);

/// The value in which the elements are computed, before they are moved.
mlir::Value behindMovement(mlir::Value value);

/// The values that each `autopar.function` is made of: between its inputs and
/// its value, which is one of them.
mlir::DenseSet<mlir::Value> findFunctionParts(mlir::Block &body);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_FUNCTIONPARTS_H
