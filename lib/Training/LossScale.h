//===- LossScale.h - Gradients that fit into a narrow type ------*- C++ -*-===//
//
// As torch.amp.GradScaler: the loss is scaled before it is differentiated, the
// gradients are divided by the scale, a step whose gradients are not finite is
// skipped. A dynamic scale is a state: halved by such a step, doubled by 2,000
// others in a row.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRAINING_LOSSSCALE_H
#define AUTOPAR_LIB_TRAINING_LOSSSCALE_H

#include "StepNumber.h"

namespace autopar {

/// The scale of the step's loss, a scalar of f32: a constant, or of a state
/// that it adds.
mlir::Value addLossScale(StepFunction &step, TensorBuilder &b,
                         const Recipe &recipe);
/// The same of a step that has one.
mlir::Value lossScaleOf(StepFunction &step, TensorBuilder &b,
                        const Recipe &recipe);
/// What a dynamic scale is in the next step; `finite`: whether all gradients of
/// this one are.
void updateLossScale(StepFunction &step, TensorBuilder &b, mlir::Value finite);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_LOSSSCALE_H
