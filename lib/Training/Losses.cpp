//===- Losses.cpp - The table of losses -----------------------------------===//
//
// Sums of terms, with the natural logarithm, of which AddLoss makes means. What
// is chosen by a label is a select on the position, not a gather: it splits
// along every dimension, and so does its gradient.
//
//===----------------------------------------------------------------------===//

#include "Losses.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

namespace {

Value asTheyAre(TensorBuilder &, Value labels) { return labels; }

/// Position t predicts label t + 1: labels move up by one, and a label that is
/// no class comes after the last.
Value ofNextToken(TensorBuilder &b, Value labels) {
  int64_t tokens = shapeOf(labels)[1];
  Type element = cast<ShapedType>(labels.getType()).getElementType();
  Value next = b.slice(labels, 1, 1, tokens - 1);
  auto none = RankedTensorType::get({shapeOf(labels)[0], 1}, element);
  return b.concat({next, b.splat(none, kIgnoredLabel)}, 1);
}

/// Minus the sum of the logarithms of what each label's class got. Labels that
/// are no class add nothing.
Value negativeLogLikelihood(TensorBuilder &b, Value logits, Value labels,
                            int64_t classDim) {
  Value log = SoftmaxOp::create(b.builder, b.loc, logits.getType(), logits,
                                classDim, /*log=*/true);
  ArrayRef<int64_t> shape = shapeOf(logits);
  Type element = cast<ShapedType>(labels.getType()).getElementType();
  Value isLabel =
      b.compare(ComparePredicate::Eq, b.iota(shape, element, classDim),
                b.spread(labels, logits, classDim));
  // Sums by row first, so that the values of a row's softmax are summed where
  // they are.
  Value rows =
      b.reduce(ReduceKind::Sum, b.selectOrZero(isLabel, log), classDim);
  return b.unary(UnaryKind::Neg, b.sum(rows));
}

Value crossEntropyOfSecond(TensorBuilder &b, Value logits, Value labels) {
  return negativeLogLikelihood(b, logits, labels, 1);
}

Value crossEntropyOfLast(TensorBuilder &b, Value logits, Value labels) {
  return negativeLogLikelihood(b, logits, labels, shapeOf(logits).size() - 1);
}

/// Computes in f64: squares of f32 overflow although gradients, which are twice
/// the differences, are far from it.
Value squaredError(TensorBuilder &b, Value output, Value labels) {
  Value difference = b.convert(b.sub(output, labels), b.builder.getF64Type());
  return b.sum(b.mul(difference, difference));
}

/// (x + |x|)/2 - x * t + log(1 + exp(-|x|)), whose gradient at 0 is 1/2 - t.
Value bceWithLogits(TensorBuilder &b, Value x, Value labels) {
  Value size = b.unary(UnaryKind::Abs, x);
  Value positive = b.mul(b.add(x, size), 0.5);
  Value tail = b.unary(
      UnaryKind::Log,
      b.binary(BinaryKind::Add,
               b.unary(UnaryKind::Exp, b.unary(UnaryKind::Neg, size)), 1));
  Value terms = b.add(b.sub(positive, b.mul(x, labels)), tail);
  return b.sum(terms);
}

/// A boolean per row as one per element of a tensor.
Value ofElements(TensorBuilder &b, Value rows, Value like) {
  return b.broadcast(rows, shapeOf(like), {0});
}

void leaveOutClasses(TensorBuilder &b, Value counts, Value &, Value &labels) {
  labels = b.select(ofElements(b, counts, labels), labels,
                    b.splatLike(labels, kIgnoredLabel));
}

void leaveOutSquares(TensorBuilder &b, Value counts, Value &output,
                     Value &labels) {
  output = b.select(ofElements(b, counts, output), output, labels);
}

/// 0 * x + log(1 + exp(-|x|)) is 0 in every type for so large an x.
void leaveOutLogits(TensorBuilder &b, Value counts, Value &output,
                    Value &labels) {
  Value isCounted = ofElements(b, counts, output);
  output = b.select(isCounted, output, b.splatLike(output, -10000));
  labels = b.selectOrZero(isCounted, labels);
}

int64_t elements(ArrayRef<int64_t> output) {
  return ShapedType::getNumElements(output);
}

int64_t rows(ArrayRef<int64_t> output) { return elements(output) / output[1]; }

int64_t positions(ArrayRef<int64_t> output) {
  return elements(output.drop_back());
}

int64_t predictedTokens(ArrayRef<int64_t> output) {
  return output[0] * (output[1] - 1);
}

using Shape = std::optional<SmallVector<int64_t>>;

/// [N, classes, ...]: the labels are [N, ...].
Shape withoutSecond(ArrayRef<int64_t> output) {
  if (output.size() < 2)
    return std::nullopt;
  SmallVector<int64_t> shape(output);
  shape.erase(shape.begin() + 1);
  return shape;
}

Shape withoutLast(ArrayRef<int64_t> output) {
  if (output.size() < 2)
    return std::nullopt;
  return SmallVector<int64_t>(output.drop_back());
}

Shape ofTokens(ArrayRef<int64_t> output) {
  if (output.size() != 3 || output[1] < 2)
    return std::nullopt;
  return SmallVector<int64_t>(output.drop_back());
}

Shape same(ArrayRef<int64_t> output) { return SmallVector<int64_t>(output); }

} // namespace

ArrayRef<LossRow> losses() {
  auto second = [](int64_t) -> int64_t { return 1; };
  auto last = [](int64_t rank) { return rank - 1; };
  static const StringLiteral ofSecond(
      "an output [N, classes, ...] and labels [N, ...]"),
      ofLast("an output [..., classes] and labels [...]"),
      tokens("an output [batch, tokens, classes] and labels [batch, tokens], "
             "of 2 tokens or more"),
      alike("labels like the output");
  static const StringLiteral maskedSecond("masked_softmax_cross_entropy_mean"),
      maskedLast("masked_cross_entropy_mean"),
      maskedTokens("masked_causal_lm_shifted_cross_entropy_mean");
  static const LossRow table[] = {
      {"softmax_cross_entropy_mean", true, false, maskedSecond, false,
       asTheyAre, crossEntropyOfSecond, leaveOutClasses, rows, withoutSecond,
       second, ofSecond},
      {maskedSecond, true, true, maskedSecond, false, asTheyAre,
       crossEntropyOfSecond, leaveOutClasses, rows, withoutSecond, second,
       ofSecond},
      {maskedLast, true, true, maskedLast, false, asTheyAre, crossEntropyOfLast,
       leaveOutClasses, positions, withoutLast, last, ofLast},
      {"causal_lm_shifted_cross_entropy_mean", true, false, maskedTokens, true,
       ofNextToken, crossEntropyOfLast, leaveOutClasses, predictedTokens,
       ofTokens, last, tokens},
      {maskedTokens, true, true, maskedTokens, false, ofNextToken,
       crossEntropyOfLast, leaveOutClasses, predictedTokens, ofTokens, last,
       tokens},
      {"mse_mean", false, false, "", false, asTheyAre, squaredError,
       leaveOutSquares, elements, same, last, alike},
      {"bce_with_logits_mean", false, false, "", false, asTheyAre,
       bceWithLogits, leaveOutLogits, elements, same, last, alike}};
  return table;
}

const LossRow *findLoss(StringRef kind) {
  for (const LossRow &row : losses())
    if (row.kind == kind)
      return &row;
  return nullptr;
}

} // namespace autopar
