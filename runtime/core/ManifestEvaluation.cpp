//===- ManifestEvaluation.cpp - The metrics of a program ------------------===//

#include "ManifestParts.h"

#include <algorithm>

namespace autopar::runtime {

static Metric::Kind parseKind(const JsonReader &json) {
  std::string text = json.string();
  int place = 0;
  for (const char *name : metricKindNames) {
    if (text == name)
      return Metric::Kind(place);
    ++place;
  }
  json.fail("is none that this runtime knows");
  return Metric::Mean;
}

/// A sum and a count, three counts by class, or scores and labels by row.
static void checkOutputs(const JsonReader &json, const Manifest &manifest,
                         const Metric &metric) {
  size_t wanted = metric.kind == Metric::F1 ? 3 : 2;
  if (metric.outputs.size() != wanted)
    return json.fail("must be " + std::to_string(wanted) + " outputs");
  const Port &first = manifest.outputs[metric.outputs.front()];
  for (size_t index : metric.outputs) {
    const Port &port = manifest.outputs[index];
    bool isMean = metric.kind == Metric::Mean || metric.kind == Metric::ExpMean;
    bool fits = port.role == OutputRole::Metric && port.globalBytes > 0 &&
                (isMean ? port.shape.empty() : port.shape == first.shape) &&
                (metric.kind != Metric::Auc || port.dtype == APRT_F64);
    if (!fits)
      return json.fail("has '" + port.name + "', which it cannot be made of");
  }
}

static Metric parseMetric(const JsonReader &json, const Manifest &manifest) {
  Metric metric;
  metric.name = json.member("name").string();
  metric.kind = parseKind(json.member("kind"));
  metric.isHigherBetter = json.member("higher_is_better").boolean();
  JsonReader outputs = json.member("outputs");
  for (const std::string &name : outputs.strings()) {
    auto port =
        std::find_if(manifest.outputs.begin(), manifest.outputs.end(),
                     [&](const Port &output) { return output.name == name; });
    if (port == manifest.outputs.end()) {
      outputs.fail("has '" + name + "', which is no output");
      return metric;
    }
    metric.outputs.push_back(size_t(port - manifest.outputs.begin()));
  }
  checkOutputs(outputs, manifest, metric);
  return metric;
}

/// The only role of an input: a boolean per row of a batch.
static void parseInputRoles(const JsonReader &json, std::vector<Port> &inputs) {
  std::vector<JsonReader> elements = json.elements();
  for (size_t i = 0; i < inputs.size() && i < elements.size(); ++i) {
    JsonReader role = elements[i].member("role", /*optional=*/true);
    if (role.isNull())
      continue;
    Port &port = inputs[i];
    port.countsRows = role.string() == "counted_rows";
    if (!port.countsRows)
      role.fail("is none that this runtime knows");
    if (port.dtype != APRT_BOOL || port.shape.empty())
      role.fail("is of a boolean per row");
  }
}

void parseEvaluation(const JsonReader &root, Manifest &manifest) {
  parseInputRoles(root.member("inputs"), manifest.inputs);
  JsonReader json = root.member("evaluation", /*optional=*/true);
  if (json.isNull())
    return;
  Evaluation &evaluation = manifest.evaluation.emplace();
  auto number = [&](const char *key) {
    JsonReader given = json.member(key, /*optional=*/true);
    return given.isNull() ? 0 : given.integer(1, maxCount);
  };
  evaluation.every = number("every");
  evaluation.patience = number("patience");
  if (JsonReader data = json.member("data", /*optional=*/true); !data.isNull())
    evaluation.data = data.string();
  std::string best = json.member("best").string();
  bool isKnown = false;
  for (const JsonReader &element : json.member("metrics").elements()) {
    evaluation.metrics.push_back(parseMetric(element, manifest));
    if (evaluation.metrics.back().name != best)
      continue;
    isKnown = true;
    evaluation.best = evaluation.metrics.size() - 1;
  }
  if (!isKnown)
    json.member("best").fail("is none of the metrics");
}

} // namespace autopar::runtime
