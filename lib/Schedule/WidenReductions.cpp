//===- WidenReductions.cpp - Reduce in types that the target has ----------===//

#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Schedule/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_WIDENREDUCTIONS
#include "autopar/Schedule/Passes.h.inc"

/// Collectives that reduce integers of 16 bits.
static SmallVector<Operation *> shortReductions(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isa<AllReduceOp, ReduceScatterOp>(op) &&
        getElementTypeOrSelf(op->getOperand(0)).isInteger(16))
      found.push_back(op);
  });
  return found;
}

/// all_reduce(x) -> convert(all_reduce(convert(x to 32 bits)) to 16 bits).
static void widen(Operation *op) {
  OpBuilder builder(op);
  auto narrow =
      cast<IntegerType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  auto wide = IntegerType::get(op->getContext(), 32, narrow.getSignedness());
  Location loc = op->getLoc();
  op->setOperand(0, convertTo(builder, loc, op->getOperand(0), wide));
  Value result = op->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(wide));
  builder.setInsertionPointAfter(op);
  Value back = convertTo(builder, loc, result, narrow);
  result.replaceAllUsesExcept(back, back.getDefiningOp());
}

namespace {
struct WidenReductions : impl::WidenReductionsBase<WidenReductions> {
  void runOnOperation() override {
    if (targetTable(getOperation()).communication.reducesShortIntegers)
      return;
    for (Operation *op : shortReductions(getOperation()))
      widen(op);
  }
};
} // namespace
} // namespace autopar
