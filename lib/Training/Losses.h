//===- Losses.h - The table of losses ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_LOSSES_H
#define AUTOPAR_LIB_TRAINING_LOSSES_H

#include "autopar/Dialect/TensorBuilder.h"

namespace autopar {

/// A loss of an output and labels: the mean of terms. The definitions are
/// PyTorch's.
struct LossRow {
  llvm::StringLiteral kind;
  /// Labels are classes, of i64; else numbers like the output.
  bool classes;
  /// Tells whether labels of kIgnoredLabel do not count.
  bool ignores;
  /// The loss of the same output of which they do not count; "": there is none.
  llvm::StringLiteral ignoring;
  /// Tells whether the labels are the tokens that the model reads if the recipe
  /// has no `labels`.
  bool labelsAreTokens;
  /// The labels of the output's positions; those that are no class add nothing.
  mlir::Value (*targets)(TensorBuilder &b, mlir::Value labels);
  /// The sum of the terms, a scalar of the output's type or a wider one. Output
  /// and targets have the shapes that labelShape asks for.
  mlir::Value (*sum)(TensorBuilder &b, mlir::Value output, mlir::Value labels);
  /// Gives the rows that do not count, dimension 0 of output and targets,
  /// values of which all terms are 0.
  void (*leaveOut)(TensorBuilder &b, mlir::Value counts, mlir::Value &output,
                   mlir::Value &labels);
  /// The number of terms if all labels count, from the output's shape.
  int64_t (*terms)(llvm::ArrayRef<int64_t> output);
  /// The labels' shape for an output of a shape; nothing if it has no loss.
  std::optional<llvm::SmallVector<int64_t>> (*labelShape)(
      llvm::ArrayRef<int64_t> output);
  /// The output's dimension of the classes, of a loss of classes.
  int64_t (*classDim)(int64_t rank);
  /// The shapes in words, for messages.
  llvm::StringLiteral shapes;
};

llvm::ArrayRef<LossRow> losses();
const LossRow *findLoss(llvm::StringRef kind);

/// The class that does not count.
inline constexpr int64_t kIgnoredLabel = -100;

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_LOSSES_H
