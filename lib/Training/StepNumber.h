//===- StepNumber.h - A number that a step computes with --------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_STEPNUMBER_H
#define AUTOPAR_LIB_TRAINING_STEPNUMBER_H

#include "StepFunction.h"
#include "autopar/Dialect/TensorBuilder.h"

namespace autopar {

/// A hyperparameter, or what is computed of some: known while compiling, or a
/// scalar of f64 that the step reads. Both are computed in f64 and then rounded
/// to the type of what they are applied to.
class StepNumber {
public:
  explicit StepNumber(double known) : known(known) {}
  explicit StepNumber(mlir::Value scalar) : scalar(scalar) {}

  bool isKnown() const { return !scalar; }
  /// True if it is known to be this number.
  bool is(double number) const { return !scalar && known == number; }

  /// A scalar of the type.
  mlir::Value scalarOf(TensorBuilder &b, mlir::Type element) const {
    return scalar ? b.convert(scalar, element) : b.scalar(element, known);
  }
  /// The number as every element of a tensor like `other`.
  mlir::Value like(TensorBuilder &b, mlir::Value other) const;
  /// `value` with the number as its second operand.
  mlir::Value applyTo(TensorBuilder &b, BinaryKind kind,
                      mlir::Value value) const;
  /// Returns the sum, difference, product, quotient or maximum of the two.
  StepNumber combine(TensorBuilder &b, BinaryKind kind,
                     const StepNumber &rhs) const;
  StepNumber atLeast(TensorBuilder &b, double least) const {
    return combine(b, BinaryKind::Max, StepNumber(least));
  }
  StepNumber restToOne(TensorBuilder &b) const {
    return StepNumber(1).combine(b, BinaryKind::Sub, *this);
  }

private:
  double known = 0;
  mlir::Value scalar; // null: it is known
};

/// A number of the recipe: `otherwise`, or, where the recipe has the name among
/// its `at_run_time`, the state that holds it, which is added where it is
/// asked for first.
StepNumber numberOf(StepFunction &step, const Recipe &recipe,
                    llvm::StringRef name, double otherwise);

/// The ranges of the numbers of `at_run_time`, as `autopar.hyperparameters` has
/// them for the manifest.
mlir::ArrayAttr rangesOf(const Recipe &recipe, mlir::MLIRContext *context);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_STEPNUMBER_H
