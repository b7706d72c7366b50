//===- FunctionOp.cpp - Functions that several ops compute ----------------===//

#include "autopar/Dialect/Dialect.h"

using namespace mlir;

namespace autopar {

LogicalResult FunctionOp::verify() {
  if (getDerivative() && getInputs().empty())
    return emitOpError("has a derivative but no inputs to derive by");
  if (getParameters() && !getDerivative())
    return emitOpError("has parameters of no derivative");
  return success();
}

/// A constant has no derivative and is what it is.
OpFoldResult FunctionOp::fold(FoldAdaptor) {
  return getValue().getDefiningOp<ConstantOp>() ? getValue() : Value();
}

double FunctionOp::getNumber(StringRef name, double otherwise) {
  DictionaryAttr all = getParametersAttr();
  auto number = all ? all.getAs<FloatAttr>(name) : FloatAttr();
  return number ? number.getValueAsDouble() : otherwise;
}

ArrayRef<int64_t> FunctionOp::getDims() {
  DictionaryAttr all = getParametersAttr();
  auto dims = all ? all.getAs<DenseI64ArrayAttr>("dims") : DenseI64ArrayAttr();
  return dims ? dims.asArrayRef() : ArrayRef<int64_t>();
}

} // namespace autopar
