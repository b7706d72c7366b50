//===- MetricSums.cpp - Metrics over all rows of an evaluation ------------===//

#include "MetricSums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace autopar::runtime {

MetricSums::MetricSums(const Manifest &manifest) : manifest(manifest) {
  for (const Metric &metric : manifest.evaluation->metrics)
    sums.emplace_back(metric.outputs.size());
}

static void addElements(const Port &port, const char *bytes,
                        std::vector<double> &to) {
  int64_t count = port.globalBytes / elementBytes(port.dtype);
  to.resize(size_t(count), 0);
  visitDtype(port.dtype, [&](auto element) {
    using Type = decltype(element);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(&element, bytes + i * int64_t(sizeof(Type)), sizeof(Type));
      to[size_t(i)] += double(Element<Type>::load(element));
    }
  });
}

void MetricSums::add(const std::vector<const char *> &outputs, int64_t rows) {
  for (size_t m = 0; m < sums.size(); ++m) {
    const Metric &metric = manifest.evaluation->metrics[m];
    for (size_t i = 0; i < metric.outputs.size(); ++i) {
      size_t output = metric.outputs[i];
      std::vector<double> &to = sums[m][i];
      if (metric.kind != Metric::Auc) {
        addElements(manifest.outputs[output], outputs[output], to);
        continue;
      }
      size_t begin = to.size();
      auto count =
          size_t(std::min(rows, manifest.outputs[output].shape.front()));
      to.resize(begin + count);
      std::memcpy(to.data() + begin, outputs[output], count * sizeof(double));
    }
  }
}

double f1Of(const std::vector<double> &right,
            const std::vector<double> &predicted,
            const std::vector<double> &there) {
  double sum = 0;
  int64_t classes = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    double all = predicted[i] + there[i];
    bool isOne = right.size() == 1;
    if (all == 0 && !isOne)
      continue;
    sum += all > 0 ? 2 * right[i] / all : 0;
    ++classes;
  }
  return classes ? sum / double(classes) : NAN;
}

double aucOf(const std::vector<double> &scores,
             const std::vector<double> &labels) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  double positive = 0, negative = 0, pairs = 0;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double ups = 0, downs = 0; // of rows with this score
    for (; end < order.size() && scores[order[end]] == scores[order[begin]];
         ++end)
      (labels[order[end]] > 0.5 ? ups : downs) += 1;
    pairs += ups * (negative + downs / 2);
    positive += ups;
    negative += downs;
  }
  return positive > 0 && negative > 0 ? pairs / (positive * negative) : NAN;
}

static double valueOf(Metric::Kind kind,
                      const std::vector<std::vector<double>> &sums) {
  if (sums.front().empty())
    return NAN;
  switch (kind) {
  case Metric::Mean:
    return sums[0][0] / sums[1][0];
  case Metric::ExpMean:
    return std::exp(sums[0][0] / sums[1][0]);
  case Metric::F1:
    return f1Of(sums[0], sums[1], sums[2]);
  case Metric::Auc:
    return aucOf(sums[0], sums[1]);
  }
  return NAN;
}

std::vector<double> MetricSums::values() const {
  std::vector<double> values;
  for (size_t m = 0; m < sums.size(); ++m)
    values.push_back(valueOf(manifest.evaluation->metrics[m].kind, sums[m]));
  return values;
}

} // namespace autopar::runtime
