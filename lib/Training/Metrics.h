//===- Metrics.h - The table of metrics -------------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_METRICS_H
#define AUTOPAR_LIB_TRAINING_METRICS_H

#include "LossInputs.h"

namespace autopar {

/// A metric is computed of tensors that each step of an evaluation gives back:
/// the runtime adds them up over steps, or collects those of `auc`, and makes
/// one number of them.
struct MetricRow {
  /// Recipes call it so; `top_accuracy` stands for top5_accuracy and others.
  llvm::StringLiteral name;
  /// The runtime makes the number of the tensors in this way
  /// (docs/RuntimeABI.md).
  llvm::StringLiteral kind;
  bool isHigherBetter;
  /// The reason why it is no metric of this loss; null if it is one.
  const char *(*refuses)(const LossInputs &inputs, int64_t k);
  /// Builds the tensors. `inputs` were widened and aligned; `k` is that of
  /// top_accuracy.
  llvm::SmallVector<mlir::Value> (*build)(TensorBuilder &b,
                                          const LossInputs &inputs, int64_t k);
};

/// A metric of a recipe.
struct Metric {
  const MetricRow *row = nullptr;
  int64_t k = 0;
};

/// The metric of that name; nothing if there is none.
std::optional<Metric> findMetric(llvm::StringRef name);
/// All names, with a 5 in the place of any number.
llvm::SmallVector<llvm::StringRef> metricNames();

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_METRICS_H
