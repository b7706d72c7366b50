//===- GradientNorm.h - What all gradients come to together -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_GRADIENTNORM_H
#define AUTOPAR_LIB_TRAINING_GRADIENTNORM_H

#include "autopar/Dialect/TensorBuilder.h"

namespace autopar {

/// A parameter and its gradient.
struct TrainedParameter {
  mlir::BlockArgument parameter;
  mlir::StringAttr name;
  mlir::Value gradient;
};

/// The root of the sum of squares of all gradients, a scalar of f64: squares of
/// f32 overflow from elements of 1.8e19 on, and those below 1e-23 are zeros.
mlir::Value globalNorm(TensorBuilder &b,
                       llvm::ArrayRef<TrainedParameter> trained);

/// Computes a scalar of i1: whether all elements are finite. `norm` is the norm
/// of the gradients, which answers that unless a gradient is of f64, whose
/// squares may overflow.
mlir::Value allFinite(TensorBuilder &b,
                      llvm::ArrayRef<TrainedParameter> trained,
                      mlir::Value norm);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_GRADIENTNORM_H
