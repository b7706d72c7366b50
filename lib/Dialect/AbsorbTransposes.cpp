//===- AbsorbTransposes.cpp - Transposes around contractions --------------===//
//
// A contraction reads and writes its dimensions in any order that a GEMM has
// strides for: transposes of its operands and of its result are letters of its
// equation.
//
//===----------------------------------------------------------------------===//

#include "Canonicalize.h"
#include "autopar/Dialect/EinsumAsGemm.h"

using namespace mlir;

namespace autopar {

std::string equationOf(StringRef lhs, StringRef rhs, StringRef result) {
  return (lhs + "," + rhs + "->" + result).str();
}

/// Letters of the operand of a transpose whose result has `letters`.
static std::string beforeTranspose(StringRef letters, TransposeOp transpose) {
  std::string before(letters.size(), ' ');
  for (auto [to, from] : llvm::enumerate(transpose.getPerm()))
    before[from] = letters[to];
  return before;
}

/// Returns whether a GEMM would become loops.
static bool losesGemm(EinsumOp op, Value lhs, StringRef left, Value rhs,
                      StringRef right, StringRef result) {
  return !op.getCallKinds().empty() &&
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

//===----------------------------------------------------------------------===//
// Transposes after a bias
//===----------------------------------------------------------------------===//

/// The elementwise ops, last first, that lead from an einsum to `value`, each
/// for its next one alone; what joins them is repeated or a splat. Empty: they
/// do not.
static SmallVector<Operation *> opsAfterEinsum(Value value,
                                               ArrayRef<int64_t> places) {
  constexpr unsigned kMostOps = 4;
  SmallVector<Operation *> ops;
  while (!value.getDefiningOp<EinsumOp>()) {
    Operation *op = value.getDefiningOp();
    if (!isElementwise(op) || !value.hasOneUse() || ops.size() == kMostOps)
      return {};
    ops.push_back(op);
    Value next;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      auto constant = operand.getDefiningOp<ConstantOp>();
      if ((broadcast && placedDims(broadcast, places)) ||
          (constant && splatElement(constant.getValue())))
        continue;
      if (next)
        return {};
      next = operand;
    }
    if (!next)
      return {};
    value = next;
  }
  return value.hasOneUse() ? ops : SmallVector<Operation *>();
}

static SmallVector<int64_t> permuted(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> perm) {
  return llvm::map_to_vector(perm, [&](int64_t dim) { return shape[dim]; });
}

/// A splat or a broadcast with its dimensions permuted.
static Value permuteRepeated(OpBuilder &builder, Value value,
                             ArrayRef<int64_t> perm, ArrayRef<int64_t> places) {
  SmallVector<int64_t> shape = permuted(shapeOf(value), perm);
  if (Value splat = resplat(builder, value, shape))
    return splat;
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return BroadcastOp::create(builder, broadcast.getLoc(),
                             withShape(value, shape), broadcast.getInput(),
                             *placedDims(broadcast, places));
}

/// The einsum with the letters of its result permuted, or null where a GEMM
/// would become loops.
static Operation *permuteResult(EinsumOp einsum, ArrayRef<int64_t> perm,
                                OpBuilder &builder) {
  std::string result;
  for (int64_t dim : perm)
    result.push_back(einsum.getResultLetters()[dim]);
  if (losesGemm(einsum, einsum.getLhs(), einsum.getLhsLetters(),
                einsum.getRhs(), einsum.getRhsLetters(), result))
    return nullptr;
  return EinsumOp::create(
      builder, einsum.getLoc(),
      withShape(einsum.getResult(),
                permuted(einsum.getType().getShape(), perm)),
      equationOf(einsum.getLhsLetters(), einsum.getRhsLetters(), result),
      einsum.getLhs(), einsum.getRhs());
}

/// transpose(einsum(a, b) + broadcast(c)) -> einsum(a, b) + broadcast(c) with
/// the result letters permuted: the transpose is gone.
static LogicalResult absorbTransposeAfterBias(TransposeOp op,
                                              PatternRewriter &rewriter) {
  ArrayRef<int64_t> perm = op.getPerm();
  SmallVector<int64_t> places(perm.size());
  for (auto [to, from] : llvm::enumerate(perm))
    places[from] = to;
  SmallVector<Operation *> ops = opsAfterEinsum(op.getInput(), places);
  if (ops.empty())
    return failure();
  Value before = *llvm::find_if(ops.back()->getOperands(), [](Value operand) {
    return operand.getDefiningOp<EinsumOp>();
  });
  Operation *absorbed =
      permuteResult(before.getDefiningOp<EinsumOp>(), perm, rewriter);
  if (!absorbed)
    return failure();
  for (Operation *next : llvm::reverse(ops)) {
    SmallVector<Value> operands;
    for (Value operand : next->getOperands())
      operands.push_back(
          operand == before ? absorbed->getResult(0)
                            : permuteRepeated(rewriter, operand, perm, places));
    before = next->getResult(0);
    absorbed = cloneLocal(next, rewriter, operands,
                          withShape(before, permuted(shapeOf(before), perm)));
    absorbed->setDiscardableAttrs(DictionaryAttr::get(op.getContext()));
  }
  absorbed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, absorbed);
  return success();
}

void populateTransposePatterns(RewritePatternSet &patterns) {
  patterns.add(absorbOperandTransposes);
  patterns.add(absorbResultTranspose);
  patterns.add(absorbTransposeAfterBias);
}

} // namespace autopar
