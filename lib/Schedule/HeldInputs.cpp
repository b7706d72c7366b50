//===- HeldInputs.cpp - Inputs that are read where the host holds them ----===//

#include "autopar/Schedule/HeldInputs.h"
#include "autopar/Schedule/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace autopar {

bool isHeldInput(BufferOp buffer) {
  if (buffer.getSpace() != BufferSpace::Persistent)
    return false;
  auto function = buffer->getParentOfType<func::FuncOp>();
  auto stage = function->getAttrOfType<IntegerAttr>(AutoparDialect::kStage);
  auto table = function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
      schedule::kPersistent);
  size_t number = stage ? stage.getInt() : 0, index = buffer.getPosition();
  if (!table || number >= table.size())
    return false;
  auto rows = cast<ArrayAttr>(table[number]);
  return index < rows.size() &&
         isa_and_nonnull<InputAttr>(
             cast<DictionaryAttr>(rows[index]).get("source"));
}

} // namespace autopar
