//===- CanonicalizeEinsum.cpp - Contractions and powers -------------------===//

#include "Canonicalize.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"

using namespace mlir;

namespace autopar {

static std::string equationOf(StringRef lhs, StringRef rhs, StringRef result) {
  return (lhs + "," + rhs + "->" + result).str();
}

/// Letters of the operand of a transpose whose result has `letters`.
static std::string beforeTranspose(StringRef letters, TransposeOp transpose) {
  std::string before(letters.size(), ' ');
  for (auto [to, from] : llvm::enumerate(transpose.getPerm()))
    before[from] = letters[to];
  return before;
}

/// Whether a GEMM would become loops.
static bool losesGemm(EinsumOp op, Value lhs, StringRef left, Value rhs,
                      StringRef right, StringRef result) {
  return einsumAsGemm(op) &&
         !einsumAsGemm(left, right, result, shapeOf(lhs), shapeOf(rhs));
}

/// einsum "mk,kn->mn" (transpose(a), b) -> einsum "km,kn->mn" (a, b)
static LogicalResult absorbOperandTransposes(EinsumOp op,
                                             PatternRewriter &rewriter) {
  auto lhs = op.getLhs().getDefiningOp<TransposeOp>();
  auto rhs = op.getRhs().getDefiningOp<TransposeOp>();
  if (!lhs && !rhs)
    return failure();
  std::string left =
      lhs ? beforeTranspose(op.getLhsLetters(), lhs) : op.getLhsLetters().str();
  std::string right =
      rhs ? beforeTranspose(op.getRhsLetters(), rhs) : op.getRhsLetters().str();
  if (losesGemm(op, lhs ? lhs.getInput() : op.getLhs(), left,
                rhs ? rhs.getInput() : op.getRhs(), right,
                op.getResultLetters()))
    return failure();
  std::string equation = equationOf(left, right, op.getResultLetters());
  rewriter.modifyOpInPlace(op, [&] {
    if (lhs)
      op.getLhsMutable().assign(lhs.getInput());
    if (rhs)
      op.getRhsMutable().assign(rhs.getInput());
    op.setEquation(equation);
  });
  return success();
}

/// transpose(einsum(a, b)) -> einsum(a, b) with its result letters permuted,
/// where nothing else uses the einsum.
static LogicalResult absorbResultTranspose(TransposeOp op,
                                           PatternRewriter &rewriter) {
  auto einsum = op.getInput().getDefiningOp<EinsumOp>();
  if (!einsum || !einsum->hasOneUse())
    return failure();
  std::string result;
  for (int64_t dim : op.getPerm())
    result.push_back(einsum.getResultLetters()[dim]);
  if (losesGemm(einsum, einsum.getLhs(), einsum.getLhsLetters(),
                einsum.getRhs(), einsum.getRhsLetters(), result))
    return failure();
  std::string equation =
      equationOf(einsum.getLhsLetters(), einsum.getRhsLetters(), result);
  Operation *absorbed =
      EinsumOp::create(rewriter, einsum.getLoc(), op.getType(), equation,
                       einsum.getLhs(), einsum.getRhs());
  absorbed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, absorbed);
  return success();
}

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
  if (op.getFlops() < kLeastFlops || einsumAsGemm(op) ||
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
  patterns.add(absorbOperandTransposes);
  patterns.add(absorbResultTranspose);
  patterns.add(transposeForGemm);
}

void BinaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(expandPower);
  populateGeluPatterns(patterns);
}

} // namespace autopar
