//===- Derivatives.h - What the files of derivatives share ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_DERIVATIVES_DERIVATIVES_H
#define AUTOPAR_LIB_TRAINING_DERIVATIVES_DERIVATIVES_H

#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Interfaces/Derivative.h"

namespace autopar {

using Gradients = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

/// The derivative of an op with one result: Derived has
/// `static Gradients build(Op op, TensorBuilder &b, Value gradient,
/// ArrayRef<bool> wanted)`.
template <typename Derived, typename Op>
struct Derivative
    : DerivativeOpInterface::ExternalModel<Derivative<Derived, Op>, Op> {
  Gradients differentiate(mlir::Operation *op, mlir::OpBuilder &builder,
                          llvm::ArrayRef<mlir::Value> gradients,
                          llvm::ArrayRef<bool> wanted) const {
    TensorBuilder b(builder, builder.getUnknownLoc());
    return Derived::build(llvm::cast<Op>(op), b, gradients.front(), wanted);
  }

private:
  friend Derived;
  Derivative() = default;
};

/// Each file of this folder has one of these.
void registerElementwiseDerivatives(mlir::MLIRContext *context);
void registerShapeDerivatives(mlir::MLIRContext *context);
void registerReductionDerivatives(mlir::MLIRContext *context);
void registerContractionDerivatives(mlir::MLIRContext *context);
void registerGatherDerivatives(mlir::MLIRContext *context);
void registerWindowDerivatives(mlir::MLIRContext *context);
void registerFunctionDerivatives(mlir::MLIRContext *context);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_DERIVATIVES_DERIVATIVES_H
