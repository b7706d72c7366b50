//===- MetricSums.h - Metrics over all rows of an evaluation ----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EVALUATION_METRICSUMS_H
#define AUTOPAR_RUNTIME_EVALUATION_METRICSUMS_H

#include "../core/Manifest.h"

#include <vector>

namespace autopar::runtime {

/// Adds up what steps give back for metrics, and makes a number of each.
class MetricSums {
public:
  /// `manifest` must outlive it; it has an evaluation.
  explicit MetricSums(const Manifest &manifest);

  /// A step of which the first `rows` rows count, or all if it has fewer;
  /// `outputs`, by the manifest's outputs, has the tensors that metrics are
  /// made of.
  void add(const std::vector<const char *> &outputs, int64_t rows);
  /// A number per metric; NaN where nothing was counted.
  std::vector<double> values() const;

private:
  const Manifest &manifest;
  /// Each metric has, by output, sums of its elements, an AUC all of them.
  std::vector<std::vector<std::vector<double>>> sums;
};

/// F1 of classes by how often each is predicted rightly, is predicted, is
/// there: the mean over classes that are there or are predicted; of one class
/// its own. As scikit-learn's f1_score, 0 where nothing is predicted rightly.
double f1Of(const std::vector<double> &right,
            const std::vector<double> &predicted,
            const std::vector<double> &there);

/// The area under the ROC curve: how likely a row with a label above 1/2 has a
/// higher score than another one, equal scores counted as a half. NaN unless
/// there are rows of both kinds.
double aucOf(const std::vector<double> &scores,
             const std::vector<double> &labels);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_EVALUATION_METRICSUMS_H
