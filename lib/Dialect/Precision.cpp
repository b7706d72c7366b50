//===- Precision.cpp - In which type an op is computed --------------------===//

#include "autopar/Dialect/Precision.h"
#include "autopar/Dialect/Dialect.h"

using namespace mlir;

namespace autopar {

PrecisionClass precisionClassOf(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getPrecisionClass() : PrecisionClass::Operands;
}

Value convertTo(OpBuilder &builder, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  return builder.createOrFold<ConvertOp>(loc, type.clone(element), value);
}

bool allowsTf32(ModuleOp module) {
  auto precision =
      module->getAttrOfType<StringAttr>(AutoparDialect::kPrecision);
  return precision && precision == "tf32";
}

} // namespace autopar
