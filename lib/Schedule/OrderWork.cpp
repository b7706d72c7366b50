//===- OrderWork.cpp - Put communication early, receives late -------------===//

#include "ScheduledWork.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Schedule/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ORDERWORK
#include "autopar/Schedule/Passes.h.inc"

/// Moves `op` to the end of its block, after the reshapes it reads that do not
/// stand there yet.
static void place(Operation *op, Operation *end,
                  llvm::DenseSet<Operation *> &placed) {
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    Operation *next = open.back();
    Operation *view = nullptr;
    for (Value operand : next->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && loopRoleOf(source) == LoopRole::View &&
          !placed.contains(source))
        view = source;
    if (view) {
      open.push_back(view);
      continue;
    }
    open.pop_back();
    placed.insert(next);
    if (next != end)
      next->moveBefore(end);
  }
}

/// Checks that no message needs one of a higher channel, if messages are
/// rendezvous, which go in the order of channels.
static LogicalResult checkChannels(const ScheduledWork &work) {
  const WorkList &list = work.work.list;
  if (!list.communication.rendezvous)
    return success();
  std::vector<int64_t> highest(list.buffers.size(), -1);
  for (auto [item, op] : llvm::zip_equal(list.items, work.ops)) {
    int64_t needed = -1;
    for (unsigned buffer : item.reads)
      needed = std::max(needed, highest[buffer]);
    if (item.channel >= 0 && needed > item.channel)
      return op->emitError()
             << "is over channel " << item.channel << " but needs what channel "
             << needed << " brings; number channels so that none needs a "
             << "higher one";
    for (unsigned buffer : item.writes)
      highest[buffer] = std::max(needed, item.channel);
  }
  return success();
}

static LogicalResult orderFunction(func::FuncOp func, int64_t &sequence) {
  ScheduledWork work = workOf(func);
  if (failed(checkChannels(work)))
    return failure();
  Operation *end = func.getBody().front().getTerminator();
  OpBuilder builder(func.getContext());
  llvm::DenseSet<Operation *> placed;
  for (unsigned id : orderWork(work.work.list)) {
    place(work.ops[id], end, placed);
    if (work.work.list.items[id].kind != WorkKind::Compute)
      work.ops[id]->setAttr(AutoparDialect::kSequence,
                            builder.getI64IntegerAttr(sequence++));
  }
  place(end, end, placed);
  return success();
}

namespace {
struct OrderWork : impl::OrderWorkBase<OrderWork> {
  void runOnOperation() override {
    int64_t sequence = 0;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(checkKernelsFormed(func)) ||
          failed(orderFunction(func, sequence)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace autopar
