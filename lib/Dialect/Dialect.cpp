//===- Dialect.cpp - The autopar dialect ----------------------------------===//

#include "autopar/Dialect/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include "autopar/Dialect/Dialect.cpp.inc"

using namespace mlir;

namespace autopar {

namespace {
/// Every op may be inlined: functions exist for setup, step and stages only.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void AutoparDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "autopar/Dialect/Ops.cpp.inc"
      >();
  registerAttributes();
  addInterfaces<Inliner>();
}

Operation *AutoparDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

FailureOr<Mesh> lookupMesh(Operation *from, FlatSymbolRefAttr symbol) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(from, symbol);
  if (!mesh)
    return from->emitError() << "there is no autopar.mesh " << symbol;
  return mesh.getMesh().toMesh();
}

StringRef nodeName(Location loc) {
  StringRef name;
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}

/// An axis reference of a strategy or sharding on `op` must exist in its mesh.
static LogicalResult verifyAxes(Operation *op, FlatSymbolRefAttr symbol,
                                ArrayRef<StringAttr> axes) {
  FailureOr<Mesh> mesh = lookupMesh(op, symbol);
  if (failed(mesh))
    return failure();
  for (StringAttr axis : axes)
    if (!mesh->lookup(axis))
      return op->emitError() << "mesh " << symbol << " has no axis " << axis;
  return success();
}

static LogicalResult verifySharding(Operation *op, ShardingAttr sharding) {
  SmallVector<StringAttr> axes;
  for (DimShardingAttr dim : sharding.getDims())
    llvm::append_range(axes, dim.getAxes());
  for (PartialAttr partial : sharding.getPartial())
    axes.push_back(partial.getAxis());
  return verifyAxes(op, sharding.getMesh(), axes);
}

LogicalResult
AutoparDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  if (attribute.getName() == kStrategy) {
    auto strategy = dyn_cast<StrategyAttr>(attribute.getValue());
    if (!strategy)
      return op->emitError() << kStrategy << " must be #autopar.strategy";
    return verifyAxes(op, strategy.getMesh(), strategy.getAxes());
  }
  if (attribute.getName() == kShardings) {
    auto shardings = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!shardings || shardings.size() != op->getNumResults())
      return op->emitError()
             << kShardings << " must hold one sharding per result";
    for (Attribute sharding : shardings) {
      auto typed = dyn_cast<ShardingAttr>(sharding);
      if (!typed)
        return op->emitError() << kShardings << " must hold #autopar.sharding";
      if (failed(verifySharding(op, typed)))
        return failure();
    }
  }
  return success();
}

} // namespace autopar
