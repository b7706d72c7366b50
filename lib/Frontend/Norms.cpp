//===- Norms.cpp - What norms have in common ------------------------------===//

#include "Norms.h"
#include "ElementTypes.h"
#include <cmath>

using namespace mlir;

namespace autopar {

Value rootOf(OnnxNode &node, Value y, Value sum, double exponent) {
  return node.function("root", {sum}, y, {node.number("exponent", exponent)});
}

/// The value behind ops that only move or scale elements.
static Value behindScale(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    auto binary = dyn_cast<BinaryOp>(op);
    bool scales = binary &&
                  (binary.getKind() == BinaryKind::Mul ||
                   binary.getKind() == BinaryKind::Div) &&
                  binary.getRhs().getDefiningOp<ConstantOp>();
    if (!scales && !isa<ReshapeOp, ConvertOp, BroadcastOp>(op))
      break;
    x = op->getOperand(0);
  }
  return x;
}

static bool isSize(Value x) {
  auto unary = x.getDefiningOp<UnaryOp>();
  return unary && unary.getKind() == UnaryKind::Abs;
}

/// x * x, or a power of |x| or with an even exponent: not below 0, and with the
/// derivative 0 at 0.
static bool isPowerOfSize(Value x) {
  auto binary = behindScale(x).getDefiningOp<BinaryOp>();
  if (!binary)
    return false;
  if (binary.getKind() == BinaryKind::Mul)
    return binary.getLhs() == binary.getRhs() ||
           (isSize(binary.getRhs()) && isPowerOfSize(binary.getLhs()));
  auto exponent = binary.getRhs().getDefiningOp<ConstantOp>();
  if (binary.getKind() != BinaryKind::Pow || !exponent)
    return false;
  auto number = dyn_cast<SplatElementsAttr>(exponent.getValue());
  double power = number && isa<FloatType>(number.getElementType())
                     ? number.getSplatValue<APFloat>().convertToDouble()
                     : 0;
  return power > 1 && (isSize(binary.getLhs()) || std::fmod(power, 2) == 0);
}

static bool isSumOfPowers(Value x) {
  auto sum = behindScale(x).getDefiningOp<ReduceOp>();
  return sum && sum.getKind() == ReduceKind::Sum &&
         isPowerOfSize(sum.getInput());
}

/// The squared norm of one vector, or of two: cosine similarity.
static bool isPowerOfNorms(Value x) {
  if (isSumOfPowers(x))
    return true;
  auto product = behindScale(x).getDefiningOp<BinaryOp>();
  return product && product.getKind() == BinaryKind::Mul &&
         isSumOfPowers(product.getLhs()) && isSumOfPowers(product.getRhs());
}

Value rootOfPowers(OnnxNode &node, Value y, Value x, double exponent) {
  bool isNorm = exponent > 0 && exponent < 1 && isPowerOfNorms(x);
  return isNorm ? rootOf(node, y, x, exponent) : y;
}

LogicalResult checkChannels(OnnxNode &node, unsigned first, unsigned last,
                            int64_t channels) {
  for (unsigned i = first; i < last; ++i)
    if (node.shape(i) != ArrayRef<int64_t>({channels}) ||
        OnnxNode::elementOf(node.input(i)) !=
            OnnxNode::elementOf(node.input(0)))
      return wrongElement(node, i,
                          "must be a tensor of " + Twine(channels) +
                              " elements of input 0's type, " +
                              elementText(node, 0));
  return success();
}

} // namespace autopar
