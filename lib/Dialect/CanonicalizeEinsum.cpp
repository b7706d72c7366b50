//===- CanonicalizeEinsum.cpp - Contractions and powers -------------------===//

#include "Canonicalize.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Scales of both operands
//===----------------------------------------------------------------------===//

/// The operand of a product that is the same number at each element; null:
/// there is none.
static Value scaleOf(Value product) {
  auto multiply = product.getDefiningOp<BinaryOp>();
  if (!multiply || multiply.getKind() != BinaryKind::Mul ||
      !product.hasOneUse() || !isa<FloatType>(elementOf(product)))
    return {};
  for (Value factor : {multiply.getRhs(), multiply.getLhs()}) {
    auto constant = factor.getDefiningOp<ConstantOp>();
    auto broadcast = factor.getDefiningOp<BroadcastOp>();
    if ((constant && splatElement(constant.getValue())) ||
        (broadcast && elementsOf(broadcast.getInput()) == 1))
      return factor;
  }
  return {};
}

/// The scale as a tensor of rank 0.
static Value scalarOf(OpBuilder &builder, Value scale) {
  if (Value splat = resplat(builder, scale, {}))
    return splat;
  Value input = scale.getDefiningOp<BroadcastOp>().getInput();
  return reshapeTo(builder, scale.getLoc(), input, {});
}

/// Two constants whose product the type does not hold.
static bool overflows(Value left, Value right) {
  auto numberOf = [](Value scale) {
    auto constant = scale.getDefiningOp<ConstantOp>();
    return constant ? cast<FloatAttr>(splatElement(constant.getValue()))
                    : FloatAttr();
  };
  FloatAttr a = numberOf(left), b = numberOf(right);
  if (!a || !b)
    return false;
  APFloat product = a.getValue();
  product.multiply(b.getValue(), APFloat::rmNearestTiesToEven);
  return !product.isNormal();
}

/// einsum(x * s, y * t) -> einsum(x * (s*t), y): attention scales queries and
/// keys by the root of what either could be scaled by.
static LogicalResult mergeScales(EinsumOp op, PatternRewriter &rewriter) {
  Value left = scaleOf(op.getLhs()), right = scaleOf(op.getRhs());
  if (!left || !right || overflows(left, right))
    return failure();
  auto scaled = [](Value product, Value scale) {
    auto multiply = product.getDefiningOp<BinaryOp>();
    return multiply.getRhs() == scale ? multiply.getLhs() : multiply.getRhs();
  };
  Value x = scaled(op.getLhs(), left), y = scaled(op.getRhs(), right);
  TensorBuilder b(rewriter, op.getLoc());
  Value both = b.mul(scalarOf(rewriter, left), scalarOf(rewriter, right));
  bool keepsLeft = elementsOf(x) <= elementsOf(y);
  Value &kept = keepsLeft ? x : y;
  kept = b.mul(kept, b.broadcast(both, shapeOf(kept)));
  rewriter.modifyOpInPlace(op, [&] {
    op.getLhsMutable().assign(x);
    op.getRhsMutable().assign(y);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// GEMMs
//===----------------------------------------------------------------------===//

/// The tensors of an einsum, lhs, rhs and result, as sets of their letters.
struct Letters {
  StringRef of[3];

  int64_t size(EinsumOp op, char letter) const {
    StringRef lhs = of[0], rhs = of[1];
    return lhs.contains(letter) ? shapeOf(op.getLhs())[lhs.find(letter)]
                                : shapeOf(op.getRhs())[rhs.find(letter)];
  }
  /// Letters of tensor `order`, in its order, that are in `a` and `b` alone.
  std::string shared(unsigned order, unsigned a, unsigned b) const {
    std::string result;
    for (char letter : of[order])
      if (of[a].contains(letter) && of[b].contains(letter) &&
          !of[3 - a - b].contains(letter))
        result += letter;
    return result;
  }
};

/// The letters of a tensor, in the order of a batched GEMM if the tensor is in
/// `set`: each kind as the result has it, and what is contracted as a tensor
/// has it that stays as it is.
static std::string orderOf(const Letters &letters, unsigned tensor,
                           unsigned set) {
  if (!(set >> tensor & 1))
    return letters.of[tensor].str();
  std::string batch;
  for (char letter : letters.of[2])
    if (letters.of[0].contains(letter) && letters.of[1].contains(letter))
      batch += letter;
  std::string rows = letters.shared(2, 0, 2), columns = letters.shared(2, 1, 2),
              contracted = letters.shared(set & 1 ? 1 : 0, 0, 1);
  if (tensor == 2)
    return batch + rows + columns;
  return batch + (tensor == 0 ? rows + contracted : contracted + columns);
}

/// einsum "ijk,kjl->il"(a, b) -> "ikj,kjl->il"(transpose(a), b): contractions
/// that are large, and a GEMM of what is transposed first. The smallest tensors
/// whose transposes make it one.
static LogicalResult transposeForGemm(EinsumOp op, PatternRewriter &rewriter) {
  constexpr int64_t kLeastFlops = 1 << 20, kLeastSize = 4;
  if (op.getFlops() < kLeastFlops || !op.getCallKinds().empty() ||
      elementOf(op.getResult()) != elementOf(op.getLhs()))
    return failure();
  Letters letters{
      {op.getLhsLetters(), op.getRhsLetters(), op.getResultLetters()}};
  for (auto [a, b] : {std::pair(0, 1), {0, 2}, {1, 2}}) {
    int64_t size = 1;
    for (char letter : letters.shared(a, a, b))
      size *= letters.size(op, letter);
    if (size < kLeastSize)
      return failure();
  }
  Value tensors[] = {op.getLhs(), op.getRhs(), op.getResult()};
  auto elements = [&](unsigned set) {
    int64_t sum = 0;
    for (unsigned i = 0; i < 3; ++i)
      sum += set >> i & 1 ? elementsOf(tensors[i]) : 0;
    return sum;
  };
  auto shapeAfter = [&](StringRef order) {
    SmallVector<int64_t> shape;
    for (char letter : order)
      shape.push_back(letters.size(op, letter));
    return shape;
  };
  std::optional<unsigned> best;
  for (unsigned set = 1; set < 8; ++set) {
    std::string lhs = orderOf(letters, 0, set), rhs = orderOf(letters, 1, set);
    if ((!best || elements(set) < elements(*best)) &&
        einsumAsGemm(lhs, rhs, orderOf(letters, 2, set), shapeAfter(lhs),
                     shapeAfter(rhs)))
      best = set;
  }
  if (!best)
    return failure();
  TensorBuilder b(rewriter, op.getLoc());
  auto ordered = [&](Value tensor, StringRef from, StringRef to) {
    SmallVector<int64_t> perm;
    for (char letter : to)
      perm.push_back(from.find(letter));
    return from == to ? tensor : b.transpose(tensor, perm);
  };
  std::string lhs = orderOf(letters, 0, *best),
              rhs = orderOf(letters, 1, *best),
              result = orderOf(letters, 2, *best);
  Value product = b.einsum(equationOf(lhs, rhs, result),
                           ordered(op.getLhs(), letters.of[0], lhs),
                           ordered(op.getRhs(), letters.of[1], rhs));
  product = ordered(product, result, letters.of[2]);
  product.getDefiningOp()->setDiscardableAttrs(
      op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, product);
  return success();
}

/// x^2 -> x*x, x^3 -> x*x*x, x^0.5 -> sqrt(x), x^-1 -> 1/x on floats
static LogicalResult expandPower(BinaryOp op, PatternRewriter &rewriter) {
  auto constant = op.getRhs().getDefiningOp<ConstantOp>();
  if (op.getKind() != BinaryKind::Pow || !constant)
    return failure();
  auto exponent =
      dyn_cast_or_null<FloatAttr>(splatElement(constant.getValue()));
  if (!exponent)
    return failure();
  double power = exponent.getValueAsDouble();
  Value x = op.getLhs();
  auto multiply = [&](Value a, Value b) -> Value {
    return BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, a, b);
  };
  auto unary = [&](UnaryKind kind) -> Value {
    return UnaryOp::create(rewriter, op.getLoc(), op.getType(), kind, x);
  };
  Value result;
  if (power == 2.0)
    result = multiply(x, x);
  else if (power == 3.0)
    result = multiply(multiply(x, x), x);
  else if (power == 0.5)
    result = unary(UnaryKind::Sqrt);
  else if (power == -1.0)
    result = unary(UnaryKind::Reciprocal);
  else
    return failure();
  result.getDefiningOp()->setDiscardableAttrs(
      op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, result);
  return success();
}

void EinsumOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  populateTransposePatterns(patterns);
  patterns.add(mergeScales);
  patterns.add(transposeForGemm);
}

void BinaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(expandPower);
  populateGeluPatterns(patterns);
  populatePadPatterns(patterns);
}

} // namespace autopar
