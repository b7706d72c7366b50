//===- GradientSums.cpp - Sums that are reduced in a wider type -----------===//

#include "GradientSums.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Precision.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autopar {

static unsigned bitsOf(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  return type ? type.getWidth() : 0;
}

/// Returns the passes of the op's rule that sum.
static SmallVector<PartialPass> sumsOf(Operation *op) {
  SmallVector<PartialPass> sums;
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    llvm::copy_if(
        ruled.getShardingRule().passes, std::back_inserter(sums),
        [](const PartialPass &pass) { return pass.kind == ReduceKind::Sum; });
  return sums;
}

/// Returns whether all elements are the same number, such as a factor that
/// scales all gradients.
static bool isOneNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    LoopRole role = loopRoleOf(op);
    if (role != LoopRole::Spread && role != LoopRole::View)
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  return cast<ShapedType>(value.getType()).getNumElements() == 1;
}

/// Returns the operands whose sum is the result, after a move, a conversion or
/// a scaling. The walk ends at ops that make partial sums: those that add
/// elements up, products, and lookups of table rows. Their operands are
/// activations, not parts of a parameter's gradient.
static SmallVector<unsigned> summands(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  KernelClass kind = kernel ? kernel.getKernelClass() : KernelClass::None;
  SmallVector<unsigned> found;
  if (kind != KernelClass::View && kind != KernelClass::Elementwise &&
      kind != KernelClass::Movement)
    return found;
  for (const PartialPass &pass : sumsOf(op)) {
    bool scales = llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
      return llvm::is_contained(pass.operands, other.getOperandNumber()) ||
             isOneNumber(other.get());
    });
    if (scales)
      found.append(pass.operands.begin(), pass.operands.end());
  }
  return found;
}

/// Returns whether every use reads the value as part of a sum, so that it may
/// stay partial.
static bool isReadAsSum(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    return llvm::any_of(sumsOf(use.getOwner()), [&](const PartialPass &pass) {
      return llvm::is_contained(pass.operands, use.getOperandNumber());
    });
  });
}

DenseSet<Value> gradientSums(func::FuncOp step) {
  DenseSet<Value> sums;
  if (step->getParentOfType<ModuleOp>()->hasAttr(
          AutoparDialect::kNarrowGradientSums))
    return sums;
  // wider than 16 bits, or converted to such a type
  llvm::SmallSetVector<Value, 32> open;
  Operation *end = step.front().getTerminator();
  for (auto [number, value] : llvm::enumerate(end->getOperands()))
    if (step.getResultAttrOfType<GradientAttr>(number,
                                               AutoparDialect::kResult) &&
        bitsOf(value) > 16)
      open.insert(value);
  for (unsigned i = 0; i < open.size(); ++i) {
    Operation *op = open[i].getDefiningOp();
    for (unsigned number : op ? summands(op) : SmallVector<unsigned>()) {
      Value operand = op->getOperand(number);
      open.insert(operand);
      if (bitsOf(operand) == 16 && isReadAsSum(operand))
        sums.insert(operand);
    }
  }
  return sums;
}

} // namespace autopar
