//===- CanonicalizeEinsum.cpp - Contractions and powers -------------------===//

#include "Canonicalize.h"
#include "autopar/Dialect/EinsumAsGemm.h"

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
}

void BinaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(expandPower);
  populateGeluPatterns(patterns);
}

} // namespace autopar
