//===- Metrics.cpp - The table of metrics ---------------------------------===//
//
// The definitions are scikit-learn's: of equal scores the first class is the
// predicted one, F1 of classes is the mean over those that are there or are
// predicted.
//
//===----------------------------------------------------------------------===//

#include "Metrics.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {
namespace {

using Tensors = SmallVector<Value>;

Type elementOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

Value count(TensorBuilder &b, Value isCounted) {
  return b.sum(b.convert(isCounted, b.builder.getI32Type()));
}

int64_t classDim(const LossInputs &inputs) {
  return inputs.row.classDim(shapeOf(inputs.output).size());
}

/// Compares labels with the one that does not count.
Value isLabelled(TensorBuilder &b, const LossInputs &inputs) {
  return b.compare(ComparePredicate::Ne, inputs.labels, kIgnoredLabel);
}

/// Tells of each element of the output whether it counts.
Value isCounted(TensorBuilder &b, const LossInputs &inputs) {
  ArrayRef<int64_t> shape = shapeOf(inputs.output);
  if (inputs.counts)
    return b.broadcast(inputs.counts, shape, {0});
  return b.compare(ComparePredicate::Eq, inputs.output, inputs.output);
}

/// Finds the class with the highest score for each label, of equal ones the
/// first. A score that is no number is none.
Value predictedClass(TensorBuilder &b, const LossInputs &inputs) {
  Value scores = inputs.output;
  int64_t dim = classDim(inputs);
  Type index = elementOf(inputs.labels);
  Value highest = b.spread(b.reduce(ReduceKind::Max, scores, dim), scores, dim);
  Value isHighest = b.compare(ComparePredicate::Eq, scores, highest);
  Value number = b.iota(shapeOf(scores), index, dim);
  Value none = b.splatLike(number, double(shapeOf(scores)[dim]));
  return b.reduce(ReduceKind::Min, b.select(isHighest, number, none), dim);
}

Value isLabelOf(TensorBuilder &b, const LossInputs &inputs) {
  int64_t dim = classDim(inputs);
  return b.compare(
      ComparePredicate::Eq,
      b.iota(shapeOf(inputs.output), elementOf(inputs.labels), dim),
      b.spread(inputs.labels, inputs.output, dim));
}

//===----------------------------------------------------------------------===//
// Tensors of each metric
//===----------------------------------------------------------------------===//

Tensors loss(TensorBuilder &b, const LossInputs &inputs, int64_t) {
  return {inputs.row.sum(b, inputs.output, inputs.labels),
          inputs.countTerms(b)};
}

Tensors accuracy(TensorBuilder &b, const LossInputs &inputs, int64_t) {
  if (inputs.row.classes)
    return {count(b, b.compare(ComparePredicate::Eq, predictedClass(b, inputs),
                               inputs.labels)),
            inputs.countTerms(b)};
  Value isPredicted = b.compare(ComparePredicate::Gt, inputs.output, 0);
  Value isTrue = b.compare(ComparePredicate::Gt, inputs.labels, 0.5);
  Type i32 = b.builder.getI32Type();
  Value isRight = b.compare(ComparePredicate::Eq, b.convert(isPredicted, i32),
                            b.convert(isTrue, i32));
  return {count(b, b.binary(BinaryKind::And, isRight, isCounted(b, inputs))),
          inputs.countTerms(b)};
}

/// A label's class is among the first k if fewer than k come before it: those
/// with a higher score, and of equal ones those with a lower number. A score
/// that is no number is never among them.
Tensors topAccuracy(TensorBuilder &b, const LossInputs &inputs, int64_t k) {
  Value scores = inputs.output;
  int64_t dim = classDim(inputs);
  Type i32 = b.builder.getI32Type();
  Value score = b.reduce(ReduceKind::Sum,
                         b.selectOrZero(isLabelOf(b, inputs), scores), dim);
  Value own = b.spread(score, scores, dim);
  Value number = b.iota(shapeOf(scores), elementOf(inputs.labels), dim);
  Value isLower = b.compare(ComparePredicate::Lt, number,
                            b.spread(inputs.labels, scores, dim));
  Value isBefore =
      b.binary(BinaryKind::Or, b.compare(ComparePredicate::Gt, scores, own),
               b.binary(BinaryKind::And,
                        b.compare(ComparePredicate::Eq, scores, own), isLower));
  Value before = b.reduce(ReduceKind::Sum, b.convert(isBefore, i32), dim);
  Value isScore = b.compare(ComparePredicate::Eq, score, score);
  Value isRight = b.binary(
      BinaryKind::And, b.compare(ComparePredicate::Lt, before, double(k)),
      b.binary(BinaryKind::And, isLabelled(b, inputs), isScore));
  return {count(b, isRight), inputs.countTerms(b)};
}

Value difference(TensorBuilder &b, const LossInputs &inputs) {
  return b.convert(b.sub(inputs.output, inputs.labels), b.builder.getF64Type());
}

Tensors absoluteError(TensorBuilder &b, const LossInputs &inputs, int64_t) {
  return {b.sum(b.unary(UnaryKind::Abs, difference(b, inputs))),
          inputs.countTerms(b)};
}

Tensors squaredError(TensorBuilder &b, const LossInputs &inputs, int64_t) {
  Value apart = difference(b, inputs);
  return {b.sum(b.mul(apart, apart)), inputs.countTerms(b)};
}

/// Counts by class how often it is predicted rightly, is predicted, is there.
Tensors f1(TensorBuilder &b, const LossInputs &inputs, int64_t) {
  Type i32 = b.builder.getI32Type();
  Value isPredicted, isTrue;
  SmallVector<int64_t> others;
  if (inputs.row.classes) {
    int64_t dim = classDim(inputs);
    Value number =
        b.iota(shapeOf(inputs.output), elementOf(inputs.labels), dim);
    isTrue = isLabelOf(b, inputs);
    isPredicted = b.binary(
        BinaryKind::And,
        b.compare(ComparePredicate::Eq, number,
                  b.spread(predictedClass(b, inputs), inputs.output, dim)),
        b.spread(isLabelled(b, inputs), inputs.output, dim));
    for (int64_t d = 0, rank = shapeOf(inputs.output).size(); d < rank; ++d)
      if (d != dim)
        others.push_back(d);
  } else {
    Value counted = isCounted(b, inputs);
    isPredicted =
        b.binary(BinaryKind::And,
                 b.compare(ComparePredicate::Gt, inputs.output, 0), counted);
    isTrue = b.compare(ComparePredicate::Gt, inputs.labels, 0.5);
    for (int64_t d = 0, rank = shapeOf(inputs.output).size(); d < rank; ++d)
      others.push_back(d);
  }
  auto sums = [&](Value value) {
    return b.reduce(ReduceKind::Sum, b.convert(value, i32), others);
  };
  return {sums(b.binary(BinaryKind::And, isPredicted, isTrue)),
          sums(isPredicted), sums(isTrue)};
}

/// The runtime collects scores and labels of the rows that count.
Tensors auc(TensorBuilder &b, const LossInputs &inputs, int64_t) {
  Type f64 = b.builder.getF64Type();
  int64_t rows = shapeOf(inputs.output)[0];
  return {b.convert(b.reshape(inputs.output, {rows}), f64),
          b.convert(b.reshape(inputs.labels, {rows}), f64)};
}

//===----------------------------------------------------------------------===//
// Losses that a metric goes with
//===----------------------------------------------------------------------===//

bool isOfLogits(const LossInputs &inputs) {
  return inputs.row.kind == "bce_with_logits_mean";
}

const char *ofAll(const LossInputs &, int64_t) { return nullptr; }

const char *ofClasses(const LossInputs &inputs, int64_t) {
  return inputs.row.classes ? nullptr : "it is of losses of classes";
}

const char *ofManyClasses(const LossInputs &inputs, int64_t k) {
  if (!inputs.row.classes)
    return "it is of losses of classes";
  return k < shapeOf(inputs.output)[classDim(inputs)]
             ? nullptr
             : "there are no more classes than that";
}

const char *ofDecisions(const LossInputs &inputs, int64_t) {
  return inputs.row.classes || isOfLogits(inputs)
             ? nullptr
             : "it is of losses of classes, and of bce_with_logits_mean";
}

const char *ofNumbers(const LossInputs &inputs, int64_t) {
  return inputs.row.kind == "mse_mean" ? nullptr : "it is of mse_mean";
}

const char *ofScores(const LossInputs &inputs, int64_t) {
  ArrayRef<int64_t> shape = shapeOf(inputs.output);
  if (!isOfLogits(inputs))
    return "it is of bce_with_logits_mean";
  return ShapedType::getNumElements(shape) == shape[0]
             ? nullptr
             : "it is of one score per row";
}

constexpr MetricRow kMetrics[] = {
    {"loss", "mean", false, ofAll, loss},
    {"perplexity", "exp_mean", false, ofClasses, loss},
    {"accuracy", "mean", true, ofDecisions, accuracy},
    {"top_accuracy", "mean", true, ofManyClasses, topAccuracy},
    {"mean_absolute_error", "mean", false, ofNumbers, absoluteError},
    {"mean_squared_error", "mean", false, ofNumbers, squaredError},
    {"f1", "f1", true, ofDecisions, f1},
    {"auc", "auc", true, ofScores, auc}};

} // namespace

std::optional<Metric> findMetric(StringRef name) {
  Metric metric;
  StringRef word = name;
  bool isTop = word.consume_front("top") &&
               !word.consumeInteger(10, metric.k) && word == "_accuracy" &&
               metric.k > 0;
  for (const MetricRow &row : kMetrics)
    if (row.name == (isTop ? StringRef("top_accuracy") : name) &&
        (isTop || row.name != "top_accuracy")) {
      metric.row = &row;
      return metric;
    }
  return std::nullopt;
}

SmallVector<StringRef> metricNames() {
  SmallVector<StringRef> names;
  for (const MetricRow &row : kMetrics)
    names.push_back(row.name == "top_accuracy" ? StringRef("top5_accuracy")
                                               : StringRef(row.name));
  return names;
}

} // namespace autopar
