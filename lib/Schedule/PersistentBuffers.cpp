//===- PersistentBuffers.cpp - What persistent buffers hold ---------------===//

#include "autopar/Schedule/PersistentBuffers.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace autopar {

/// The source of a persistent buffer by its row; null if it has no row.
static Attribute sourceOf(BufferOp buffer) {
  if (buffer.getSpace() != BufferSpace::Persistent)
    return {};
  auto function = buffer->getParentOfType<func::FuncOp>();
  auto table = function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
      AutoparDialect::kPersistent);
  size_t number = stageOf(function), index = buffer.getPosition();
  if (!table || number >= table.size())
    return {};
  auto rows = dyn_cast<ArrayAttr>(table[number]);
  auto row = rows && index < rows.size() ? dyn_cast<PersistentAttr>(rows[index])
                                         : PersistentAttr();
  return row ? row.getWhat() : Attribute();
}

bool isHeldInput(BufferOp buffer) {
  return isa_and_nonnull<InputAttr>(sourceOf(buffer));
}

bool isState(BufferOp buffer) {
  return isa_and_nonnull<StateAttr>(sourceOf(buffer));
}

std::optional<int64_t> constantIndex(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  if (buffer && buffer.getSpace() == BufferSpace::Persistent &&
      !isa_and_nonnull<InputAttr, StateAttr>(sourceOf(buffer)))
    return buffer.getPosition();
  return std::nullopt;
}

} // namespace autopar
