//===- FunctionParts.cpp - What lies inside of functions ------------------===//

#include "FunctionParts.h"
#include "autopar/Dialect/KernelFacts.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace autopar {

Value movedBy(Operation *op) {
  auto facts = dyn_cast<KernelOpInterface>(op);
  KernelClass kernel = facts ? facts.getKernelClass() : KernelClass::None;
  if (kernel != KernelClass::View && kernel != KernelClass::Movement)
    return {};
  Value moved;
  for (Value operand : op->getOperands())
    if (isa<FloatType>(getElementTypeOrSelf(operand))) {
      if (moved)
        return {};
      moved = operand;
    }
  return moved;
}

Value behindMovement(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    Value moved = movedBy(op);
    if (!moved)
      break;
    value = moved;
  }
  return value;
}

/// Ops between them may have moved since the importer made them, so that the
/// walk also ends at what has a name: that is another node's.
static void addParts(FunctionOp function, DenseSet<Value> &parts) {
  DenseSet<Value> seen;
  for (Value input : function.getInputs())
    seen.insert(behindMovement(input));
  SmallVector<Value> open{function.getValue()};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    bool isOther = op && value != function.getValue() &&
                   op->hasAttr(AutoparDialect::kNames);
    if (!op || isOther || isa<ConstantOp>(op) ||
        seen.contains(behindMovement(value)) || !seen.insert(value).second)
      continue;
    parts.insert(value);
    llvm::append_range(open, op->getOperands());
  }
}

DenseSet<Value> findFunctionParts(Block &body) {
  DenseSet<Value> parts;
  for (auto function : body.getOps<FunctionOp>())
    addParts(function, parts);
  return parts;
}

} // namespace autopar
