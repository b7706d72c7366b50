//===- EinsumOp.cpp - Contraction -----------------------------------------===//

#include "OpHelpers.h"
#include "autopar/Dialect/EinsumAsGemm.h"

using namespace mlir;

namespace autopar {

// "bmk,bkn->bmn"; the verifier has seen to comma and arrow.
StringRef EinsumOp::getLhsLetters() { return getEquation().split(',').first; }
StringRef EinsumOp::getRhsLetters() {
  return getEquation().split("->").first.split(',').second;
}
StringRef EinsumOp::getResultLetters() {
  return getEquation().split("->").second;
}

/// Checks that there is one letter, lower-case or upper-case, for each
/// dimension of `value`, and none twice.
static LogicalResult verifyLetters(EinsumOp op, StringRef letters, Value value,
                                   llvm::SmallDenseMap<char, int64_t> &sizes) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (letters.size() != shape.size())
    return op.emitOpError() << "'" << letters << "' does not have one letter "
                            << "per dimension of " << value.getType();
  for (auto [dim, letter] : llvm::enumerate(letters)) {
    if (!llvm::isAlpha(letter))
      return op.emitOpError() << "'" << letters << "' holds more than letters";
    if (letters.take_front(dim).contains(letter))
      return op.emitOpError() << "letter '" << Twine(letter)
                              << "' is twice in '" << letters << "'";
    auto [known, isNew] = sizes.try_emplace(letter, shape[dim]);
    if (!isNew && known->second != shape[dim])
      return op.emitOpError() << "letter '" << Twine(letter) << "' has sizes "
                              << known->second << " and " << shape[dim];
  }
  return success();
}

/// Each letter of `letters` is in one of the other two terms.
static LogicalResult verifyUsed(EinsumOp op, StringRef letters, StringRef a,
                                StringRef b) {
  for (char letter : letters)
    if (!a.contains(letter) && !b.contains(letter))
      return op.emitOpError()
             << "letter '" << Twine(letter)
             << "' is in one term only; reduce or broadcast that dimension";
  return success();
}

LogicalResult EinsumOp::verify() {
  auto [operands, arrow] = getEquation().split("->");
  if (operands.size() == getEquation().size() || operands.count(',') != 1)
    return emitOpError("equation must read \"LHS,RHS->RESULT\"");
  if (elementOf(getLhs()) != elementOf(getRhs()) ||
      elementOf(getLhs()) != elementOf(getResult()))
    return emitOpError("operands and result must have one element type");
  StringRef lhs = getLhsLetters(), rhs = getRhsLetters();
  StringRef result = getResultLetters();
  llvm::SmallDenseMap<char, int64_t> sizes;
  if (failed(verifyLetters(*this, lhs, getLhs(), sizes)) ||
      failed(verifyLetters(*this, rhs, getRhs(), sizes)) ||
      failed(verifyLetters(*this, result, getResult(), sizes)) ||
      failed(verifyUsed(*this, lhs, rhs, result)) ||
      failed(verifyUsed(*this, rhs, lhs, result)) ||
      failed(verifyUsed(*this, result, lhs, rhs)))
    return failure();
  return success();
}

ShardingRule EinsumOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  llvm::SmallDenseMap<char, unsigned> factors;
  for (auto [dim, letter] : llvm::enumerate(getResultLetters())) {
    factors[letter] = rule.addFactor(getType().getDimSize(dim));
    rule.results[0][dim] = factors[letter];
  }
  for (auto [dim, letter] : llvm::enumerate(getLhsLetters())) {
    if (!factors.contains(letter)) {
      unsigned factor =
          rule.addFactor(shapeOf(getLhs())[dim], FactorKind::Reduce);
      rule.factors[factor].mask = 0.0;
      factors[letter] = factor;
    }
    rule.operands[0][dim] = factors[letter];
  }
  for (auto [dim, letter] : llvm::enumerate(getRhsLetters()))
    rule.operands[1][dim] = factors[letter];
  addPass(rule, {0}, ReduceKind::Sum);
  addPass(rule, {1}, ReduceKind::Sum);
  return rule;
}

KernelClass EinsumOp::getKernelClass() { return KernelClass::Contraction; }

/// An outer product adds nothing up: it is a product of elements. Positions
/// times frequencies must not lose their digits.
PrecisionClass EinsumOp::getPrecisionClass() {
  for (auto [letter, size] :
       llvm::zip_equal(getLhsLetters(), shapeOf(getLhs())))
    if (size > 1 && !getResultLetters().contains(letter))
      return PrecisionClass::Low;
  return PrecisionClass::Operands;
}

SmallVector<CallKind, 2> EinsumOp::getCallKinds() {
  SmallVector<CallKind, 2> kinds;
  if (einsumAsGemm(*this))
    kinds.push_back(CallKind::Gemm);
  return kinds;
}

SmallVector<Value, 2> EinsumOp::getCallOperands(CallKind) {
  if (einsumAsGemm(*this)->swapped)
    return {getRhs(), getLhs()};
  return {getLhs(), getRhs()};
}

bool EinsumOp::takesBias(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims,
                         ArrayRef<int64_t> shape) {
  auto gemm = einsumAsGemm(*this);
  if (!gemm || sizes.empty() || sizes != ArrayRef<int64_t>(gemm->columnShape))
    return false;
  SmallVector<int64_t> wide = wideDims(shape);
  return wide.size() >= dims.size() &&
         ArrayRef(wide).take_back(dims.size()) == dims;
}

int64_t EinsumOp::getFlops() {
  int64_t flops = 2 * getType().getNumElements();
  for (auto [dim, letter] : llvm::enumerate(getLhsLetters()))
    if (!getResultLetters().contains(letter))
      flops *= shapeOf(getLhs())[dim];
  return flops;
}

} // namespace autopar
