//===- Passes.h - From the forward graph to the training step ---*- C++ -*-===//

#ifndef AUTOPAR_TRAINING_PASSES_H
#define AUTOPAR_TRAINING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

#define GEN_PASS_DECL
#include "autopar/Training/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "autopar/Training/Passes.h.inc"

/// Registers the dialect `training`, and the derivatives of the ops of the
/// dialect `autopar` for every context that loads that.
void registerTraining(mlir::DialectRegistry &registry);

} // namespace autopar

#endif // AUTOPAR_TRAINING_PASSES_H
