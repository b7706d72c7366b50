//===- MetricSums.h - Metrics over all rows of an evaluation ----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EVALUATION_METRICSUMS_H
#define AUTOPAR_RUNTIME_EVALUATION_METRICSUMS_H

#include "../core/Manifest.h"

#include <vector>

namespace autopar::runtime {

/// Accumulates the outputs of steps for metrics, and computes a number for each
/// metric.
class MetricSums {
public:
  /// `manifest` must outlive this and have an evaluation.
  explicit MetricSums(const Manifest &manifest);

  /// Adds a step. Its first `rows` rows count, or all if it has fewer.
  /// `outputs`, in the order of the manifest's outputs, has the tensors that
  /// metrics are computed from.
  void add(const std::vector<const char *> &outputs, int64_t rows);
  /// Returns a number per metric. It is NaN if nothing was counted.
  std::vector<double> values() const;

private:
  const Manifest &manifest;
  /// The sums of the elements of each output, by metric. An AUC has all
  /// elements instead.
  std::vector<std::vector<std::vector<double>>> sums;
};

/// Returns the F1 score from the counts of correct predictions, predictions and
/// labels by class. It is the mean over the classes that occur or are
/// predicted; for a single class it is that of the class. Like f1_score of
/// scikit-learn, it is 0 if no prediction is correct.
double f1Of(const std::vector<double> &right,
            const std::vector<double> &predicted,
            const std::vector<double> &there);

/// Returns the area under the ROC curve. This is the probability that a row
/// with a label above 1/2 has a higher score than another row, where equal
/// scores count as a half. It is NaN unless there are rows of both kinds.
double aucOf(const std::vector<double> &scores,
             const std::vector<double> &labels);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_EVALUATION_METRICSUMS_H
