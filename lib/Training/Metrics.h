//===- Metrics.h - The table of metrics -------------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_METRICS_H
#define AUTOPAR_LIB_TRAINING_METRICS_H

#include "LossInputs.h"

namespace autopar {

/// How good a model is, computed of what each step of an evaluation gives back:
/// tensors that the runtime adds up over steps, or of `auc` collects, and then
/// makes one number of.
struct MetricRow {
  /// In a recipe; `top_accuracy` stands for top5_accuracy and others.
  llvm::StringLiteral name;
  /// How the runtime makes the number of the tensors (docs/RuntimeABI.md).
  llvm::StringLiteral kind;
  bool isHigherBetter;
  /// Null where it is a metric of the loss; else why it is not.
  const char *(*refuses)(const LossInputs &inputs);
  /// The tensors. `inputs` were widened and aligned, `scores` and `labels` are
  /// as they were before rows were left out. `k`: of top_accuracy.
  llvm::SmallVector<mlir::Value> (*build)(TensorBuilder &b,
                                          const LossInputs &inputs, int64_t k);
};

/// A metric of a recipe.
struct Metric {
  const MetricRow *row = nullptr;
  int64_t k = 0;
};

/// Nothing: there is none of that name.
std::optional<Metric> findMetric(llvm::StringRef name);
/// All names, with a 5 in the place of any number.
llvm::SmallVector<llvm::StringRef> metricNames();

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_METRICS_H
