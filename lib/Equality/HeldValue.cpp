//===- HeldValue.cpp - What a local value holds of a global one -----------===//

#include "HeldValue.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// HeldValue
//===----------------------------------------------------------------------===//

HeldValue HeldValue::of(Value global, const Sharding &sharding) {
  HeldValue held;
  held.global = global;
  for (const DimSharding &dim : sharding.dims)
    held.dims.push_back({dim.subAxes, dim.interval, 0, std::nullopt});
  held.partial = sharding.partial;
  return held;
}

Sharding HeldValue::sharding() const {
  Sharding sharding;
  for (const HeldDim &dim : dims)
    sharding.dims.push_back({dim.subAxes, dim.interval});
  sharding.partial = partial;
  return sharding;
}

const Partial *HeldValue::partialOver(unsigned subAxis) const {
  const auto *found = llvm::find_if(
      partial, [&](const Partial &p) { return p.subAxis == subAxis; });
  return found == partial.end() ? nullptr : found;
}

ArrayRef<int64_t> HeldValue::globalShape() const {
  return cast<RankedTensorType>(global.getType()).getShape();
}

RankedTensorType HeldValue::localType(const Mesh &mesh) const {
  return RankedTensorType::get(
      localShape(globalShape(), sharding(), mesh),
      cast<RankedTensorType>(global.getType()).getElementType());
}

bool HeldValue::hasPast(unsigned dim, const Mesh &mesh) const {
  return isUneven(globalShape()[dim], {dims[dim].subAxes, dims[dim].interval},
                  mesh);
}

/// The send that `recv` waits for; null if there is none.
static Operation *senderOf(RecvOp recv) {
  Operation *sender = nullptr;
  recv->getParentOfType<ModuleOp>().walk([&](SendOp send) {
    if (send.getChannel() == recv.getChannel())
      sender = send;
  });
  return sender;
}

void noteOrigin(InFlightDiagnostic &diagnostic, Value value, StringRef note) {
  Operation *def = value.getDefiningOp();
  while (def) {
    diagnostic.attachNote(def->getLoc())
        << note << ", by '" << def->getName() << "'";
    if (isa<ShardingRuleOpInterface>(def))
      return;
    if (auto recv = dyn_cast<RecvOp>(def))
      def = senderOf(recv);
    else
      def = def->getNumOperands() == 1 ? def->getOperand(0).getDefiningOp()
                                       : nullptr;
    note = "from what is made here";
  }
}

} // namespace autopar
