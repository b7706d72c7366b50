//===- Folders.cpp - Ops that are one of their operands or a constant -----===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

/// A constant of `type` that has the one element of `constant`, or null.
static OpFoldResult resplat(Attribute constant, RankedTensorType type) {
  Attribute element = splatElement(constant);
  if (!element)
    return {};
  return DenseElementsAttr::get(type, element);
}

OpFoldResult BinaryOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SelectOp::fold(FoldAdaptor) {
  return getOnTrue() == getOnFalse() ? getOnTrue() : Value();
}
OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return dense.reshape(getType());
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPerm()))
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool whole = llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  if (whole && getInput().getType() == getType())
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs().front() : Value();
}

} // namespace autopar
