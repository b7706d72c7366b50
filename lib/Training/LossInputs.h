//===- LossInputs.h - What a loss is of -------------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_LOSSINPUTS_H
#define AUTOPAR_LIB_TRAINING_LOSSINPUTS_H

#include "Losses.h"
#include "StepFunction.h"

namespace autopar {

/// The model's output that the result is, or null.
OutputAttr modelOutput(const StepFunction::Result &result);

/// The output of the model and the labels that a recipe's loss is of, and which
/// rows of them count.
class LossInputs {
public:
  LossInputs(const Recipe &recipe, StepFunction &step)
      : recipe(recipe), row(*findLoss(recipe.loss)), step(step),
        module(step.function->getParentOfType<mlir::ModuleOp>()) {}

  /// Finds them; labels that no input of the model is become one more. A run
  /// ends before its first step if a label of its arrays is no class. Fails
  /// having said what is wrong.
  mlir::LogicalResult find();
  /// Makes an input, a boolean per row of the output, that says which rows
  /// count (`autopar.counted_rows`).
  void addCountedRows();

  /// Output and labels in the types in which a loss is computed: at least f32,
  /// classes as i64.
  void widen(TensorBuilder &b);
  /// The labels of the output's positions. Rows that do not count have values
  /// and labels whose loss is 0 from now on.
  void align(TensorBuilder &b);
  /// Counts the terms that count: a scalar of i32.
  mlir::Value countTerms(TensorBuilder &b) const;

  const Recipe &recipe;
  const LossRow &row;
  StepFunction &step;
  mlir::Value output, labels;
  mlir::Value counts; // by row; null: all count

private:
  mlir::InFlightDiagnostic fail() {
    return module.emitError() << "recipe: loss " << recipe.loss << ": ";
  }
  mlir::LogicalResult findOutput();
  mlir::LogicalResult findLabels();
  mlir::FailureOr<std::string> labelsName(llvm::ArrayRef<int64_t> shape);
  mlir::LogicalResult checkLabelsName(llvm::StringRef name);
  void boundLabels(int64_t classes);

  mlir::ModuleOp module;
};

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_LOSSINPUTS_H
