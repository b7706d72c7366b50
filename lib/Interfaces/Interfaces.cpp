//===- Interfaces.cpp - Defaults of the op interfaces ---------------------===//

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interfaces/Derivative.h"
#include "mlir/IR/BuiltinTypes.h"
#include <limits>

#include "autopar/Interfaces/Derivative.cpp.inc"
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

LoopRole defaultLoopRole(Operation *op) {
  auto kernel = cast<KernelOpInterface>(op);
  switch (kernel.getKernelClass()) {
  case KernelClass::View:
    return LoopRole::View;
  case KernelClass::Elementwise:
    return LoopRole::Pointwise;
  case KernelClass::Movement:
    return LoopRole::Remap;
  case KernelClass::Reduction:
    return kernel.getRowRank() ? LoopRole::RowReduction : LoopRole::Whole;
  case KernelClass::Contraction:
  case KernelClass::Convolution:
  case KernelClass::Window:
    return LoopRole::Whole;
  case KernelClass::Communication:
  case KernelClass::None:
    return LoopRole::Opaque;
  }
  return LoopRole::Opaque;
}

bool defaultRoundsResult(Operation *op) {
  KernelClass kind = cast<KernelOpInterface>(op).getKernelClass();
  return kind != KernelClass::View && kind != KernelClass::Movement;
}

/// Lowest or highest value of an integer type; i1 is unsigned.
static double integerBound(IntegerType type, bool lowest) {
  unsigned width = type.getWidth();
  if (type.isUnsigned() || width == 1)
    return lowest ? 0.0 : APInt::getMaxValue(width).roundToDouble();
  APInt bound = lowest ? APInt::getSignedMinValue(width)
                       : APInt::getSignedMaxValue(width);
  return bound.signedRoundToDouble();
}

double neutralElement(ReduceKind kind, Type elementType) {
  if (kind == ReduceKind::Sum)
    return 0.0;
  if (kind == ReduceKind::Prod)
    return 1.0;
  bool lowest = kind == ReduceKind::Max;
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return integerBound(integer, lowest);
  double infinity = std::numeric_limits<double>::infinity();
  return lowest ? -infinity : infinity;
}

} // namespace autopar
