//===- LossScale.h - Gradients that fit into a narrow type ------*- C++ -*-===//
//
// Loss scaling works as in torch.amp.GradScaler: the loss is scaled before it
// is differentiated, the gradients are divided by the scale, and a step whose
// gradients are not finite is skipped. A dynamic scale is a state, which is
// halved by such a step and doubled after 2,000 other steps in a row.
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
/// The loss scale of a step that has one.
mlir::Value lossScaleOf(StepFunction &step, TensorBuilder &b,
                        const Recipe &recipe);
/// Computes the dynamic scale of the next step. `finite` says whether all
/// gradients of this step are finite.
void updateLossScale(StepFunction &step, TensorBuilder &b, mlir::Value finite);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_LOSSSCALE_H
