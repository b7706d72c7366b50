//===- UnreachedParameters.h - Parameters without a gradient ----*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_UNREACHEDPARAMETERS_H
#define AUTOPAR_LIB_TRAINING_UNREACHEDPARAMETERS_H

#include "StepFunction.h"

namespace autopar {

/// Tells of parameters that have no gradient, since the loss does not depend on
/// them, or only through an op whose gradient is zero, and makes them states
/// that stay as they are. `hasGradient` tells it of values of the forward
/// graph.
void keepUnreached(StepFunction &step,
                   mlir::ArrayRef<mlir::BlockArgument> parameters,
                   mlir::Value loss,
                   llvm::function_ref<bool(mlir::Value)> hasGradient);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_UNREACHEDPARAMETERS_H
