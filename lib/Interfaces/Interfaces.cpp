//===- Interfaces.cpp - Defaults of the op interfaces ---------------------===//

#include "autopar/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinTypes.h"

#include "autopar/Interfaces/Interfaces.cpp.inc"

using namespace mlir;

namespace autopar {

Operation *cloneLocal(Operation *op, OpBuilder &builder, ValueRange operands,
                      TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state);
}

static int64_t elements(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      count += tensor.getNumElements();
  return count;
}

int64_t defaultFlops(Operation *op) {
  switch (cast<KernelOpInterface>(op).getKernelClass()) {
  case KernelClass::Elementwise:
  case KernelClass::Window:
    return elements(op->getResultTypes());
  case KernelClass::Reduction:
    return elements(op->getOperandTypes());
  default:
    return 0;
  }
}

} // namespace autopar
