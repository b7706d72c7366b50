//===- LowerCommunication.cpp - Calls for collectives, messages, events ---===//
//
// A collective over dimension d sees a tensor as [outer, d, inner], in the
// order of memory, which is one order on both sides.
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar {

namespace {

struct Around {
  int64_t outer = 1, size = 1, inner = 1;
};

Around around(Value memref, int64_t dim) {
  Around result;
  ArrayRef<int64_t> shape = shapeOf(memref);
  bool after = false;
  for (int64_t at : fullLayout(layoutOf(memref.getType()), shape.size())) {
    (at == dim ? result.size
     : after   ? result.inner
               : result.outer) *= shape[at];
    after |= at == dim;
  }
  return result;
}

HostArgument record(HostFunction &host, Operation *op) {
  return host.op(describeOp(op, op->getName().stripDialect()));
}

/// At least one byte, also where the tensors of every rank are empty.
template <typename OpT> HostArgument communicator(HostFunction &host, OpT op) {
  int64_t bytes = std::max<int64_t>(1, bytesOf(op.getInput().getType()));
  bytes = std::max(bytes, bytesOf(op.getOutput().getType()));
  return host.int32(host.program.communicator(op.getAxes(), bytes));
}

HostArgument dtype(HostFunction &host, Value memref) {
  return host.int32(dtypeNumber(getElementTypeOrSelf(memref.getType())));
}

HostArgument reduceKind(HostFunction &host, ReduceKind kind) {
  return host.int32(static_cast<int32_t>(kind)); // numbered alike
}

void lower(HostFunction &host, AllReduceOp op) {
  auto type = cast<ShapedType>(op.getInput().getType());
  host.call("aprt_all_reduce",
            {record(host, op), communicator(host, op),
             reduceKind(host, op.getKind()), dtype(host, op.getInput()),
             host.int64(type.getNumElements()), host.address(op.getInput()),
             host.address(op.getOutput())});
}

void lower(HostFunction &host, AllGatherOp op) {
  Around in = around(op.getInput(), op.getDim());
  Around out = around(op.getOutput(), op.getDim());
  host.call("aprt_all_gather",
            {record(host, op), communicator(host, op),
             dtype(host, op.getInput()), host.int64(out.outer),
             host.int64(out.size), host.int64(in.size), host.int64(out.inner),
             host.address(op.getInput()), host.address(op.getOutput())});
}

void lower(HostFunction &host, ReduceScatterOp op) {
  Around in = around(op.getInput(), op.getDim());
  Around out = around(op.getOutput(), op.getDim());
  host.call("aprt_reduce_scatter",
            {record(host, op), communicator(host, op),
             reduceKind(host, op.getKind()), dtype(host, op.getInput()),
             host.int64(in.outer), host.int64(in.size), host.int64(out.size),
             host.int64(in.inner), host.address(op.getInput()),
             host.address(op.getOutput())});
}

void lower(HostFunction &host, AllToAllOp op) {
  auto in = cast<ShapedType>(op.getInput().getType());
  auto out = cast<ShapedType>(op.getOutput().getType());
  Layout order = fullLayout(layoutOf(in), in.getRank());
  auto place = [&](int64_t dim) {
    return host.int32(llvm::find(order, dim) - order.begin());
  };
  auto words = [&](ShapedType type) {
    SmallVector<int64_t> sizes = inMemoryOrder(type.getShape(), order);
    return host.program.words({sizes.begin(), sizes.end()});
  };
  host.call("aprt_all_to_all",
            {record(host, op), communicator(host, op),
             dtype(host, op.getInput()), host.int32(in.getRank()), words(in),
             words(out), place(op.getSplitDim()), place(op.getConcatDim()),
             host.address(op.getInput()), host.address(op.getOutput())});
}

void lower(HostFunction &host, HaloOp op) {
  Around in = around(op.getInput(), op.getDim());
  Around out = around(op.getOutput(), op.getDim());
  host.call("aprt_halo",
            {record(host, op), communicator(host, op),
             dtype(host, op.getInput()), host.int64(in.outer),
             host.int64(op.getSize()), host.int64(in.size),
             host.int64(in.inner), host.int64(op.getStep()),
             host.int64(op.getOffset()), host.int64(out.size),
             host.float64(op.getFill().convertToDouble()),
             host.address(op.getInput()), host.address(op.getOutput())});
}

void lower(HostFunction &host, SendOp op) {
  int64_t bytes = bytesOf(op.getInput().getType());
  host.program.useChannel(
      op.getChannel(),
      {host.stage, static_cast<int64_t>(op.getToStage()), bytes});
  host.call("aprt_send", {record(host, op), host.int32(op.getChannel()),
                          host.address(op.getInput()), host.int64(bytes)});
}

void lower(HostFunction &host, RecvOp op) {
  int64_t bytes = bytesOf(op.getOutput().getType());
  host.program.useChannel(
      op.getChannel(),
      {static_cast<int64_t>(op.getFromStage()), host.stage, bytes});
  host.call("aprt_recv", {record(host, op), host.int32(op.getChannel()),
                          host.address(op.getOutput()), host.int64(bytes)});
}

/// The row carries the stream that records or waits.
template <typename OpT>
void lowerEvent(HostFunction &host, StringLiteral callee, OpT op) {
  ProgramOp row = describeOp(op, "event");
  row.stream = op.getStream();
  host.call(callee, {host.op(std::move(row)), host.int32(op.getEvent())});
}

void lower(HostFunction &host, RecordEventOp op) {
  lowerEvent(host, "aprt_event_record", op);
}

void lower(HostFunction &host, WaitEventOp op) {
  lowerEvent(host, "aprt_event_wait", op);
}

} // namespace

LogicalResult lowerCommunication(HostFunction &host, Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, HaloOp,
            SendOp, RecvOp, RecordEventOp, WaitEventOp>(
          [&](auto communication) {
            lower(host, communication);
            return success();
          })
      .Default([](Operation *other) {
        return other->emitOpError("is no call of the runtime; schedule the "
                                  "function first (autopar-form-kernels)");
      });
}

} // namespace autopar
