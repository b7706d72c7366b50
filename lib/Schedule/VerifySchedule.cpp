//===- VerifySchedule.cpp - Replay buffers and messages -------------------===//

#include "Replay.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Schedule/Names.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/shared_memory.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "autopar/Schedule/Passes.h.inc"

static bool isEvent(Operation *op) {
  return isa<RecordEventOp, WaitEventOp>(op);
}

/// A kernel's body works on tensors; all else on buffers.
static LogicalResult checkForm(func::FuncOp func) {
  if (func.getNumArguments() != 0 || func.getNumResults() != 0)
    return func.emitError("still has arguments or results; run "
                          "autopar-assign-buffers first");
  for (Operation &op : func.getBody().front()) {
    if (!isa<KernelOp, BufferOp, func::ReturnOp>(op) && !isEvent(&op) &&
        !isCommunication(&op))
      return op.emitError("is not part of a schedule: kernels, communication "
                          "and buffers are");
    if (isa<BufferOp>(op))
      continue;
    if (op.getNumResults() != 0)
      return op.emitError("has a tensor result; run autopar-assign-buffers "
                          "first");
    for (Value operand : op.getOperands())
      if (!operand.getDefiningOp<BufferOp>())
        return op.emitError("has an operand that is no autopar.buffer");
  }
  return success();
}

/// Every rank issues its communication in the one global order.
static LogicalResult checkSequence(func::FuncOp func, int64_t &last) {
  for (Operation &op : func.getBody().front()) {
    if (!isCommunication(&op))
      continue;
    auto sequence = op.getAttrOfType<IntegerAttr>(schedule::kSequence);
    if (!sequence)
      return op.emitError() << "has no " << schedule::kSequence
                            << "; run autopar-order-work first";
    if (sequence.getInt() <= last)
      return op.emitError() << "has number " << sequence.getInt()
                            << " but stands after number " << last;
    last = sequence.getInt();
  }
  return success();
}

namespace {
struct VerifySchedule : impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    int64_t last = -1;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(checkForm(func)) || failed(checkSequence(func, last)) ||
          failed(replayMemory(func)) || failed(replayStreams(func)))
        return signalPassFailure();
    }
    bool rendezvous = targetTable(getOperation()).communication.rendezvous;
    int64_t slots = rendezvous ? 0 : shared_memory::kChannelSlots;
    if (failed(replayMessages(getOperation(), slots)))
      signalPassFailure();
  }
};
} // namespace
} // namespace autopar
