//===- Derivatives.h - Gradients against finite differences -----*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_DERIVATIVES_H
#define AUTOPAR_TEST_PROPERTY_DERIVATIVES_H

#include "Random.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>

namespace autopar::property {

struct DerivativeCounts {
  int64_t ops = 0; // kinds of random op, or models
  int64_t passed = 0, failed = 0;
};

/// Of each differentiable op 20 with random shapes and attributes, in f64:
/// the derivative along a random direction of each operand against the central
/// difference. Failures are printed.
DerivativeCounts testDerivatives(mlir::MLIRContext &context, uint64_t seed);

/// Of imported models with a recipe: the derivative of the loss by all trained
/// parameters at once along random directions, in f64, against the central
/// difference. Weights and data are random.
DerivativeCounts testWholeModels(mlir::MLIRContext &context, uint64_t seed,
                                 llvm::ArrayRef<std::string> files);

/// Results that are gradients become the outputs `gradient/NAME`.
void nameGradients(mlir::ModuleOp module);

/// Makes @step of a random graph return, beside what it did, a random linear
/// function of its results as output `loss`, and its gradients by the float
/// parameters as outputs `gradient/NAME`. False, and
/// nothing changes, where it has none or some op between has no derivative.
bool differentiateGraph(mlir::ModuleOp module);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_DERIVATIVES_H
