//===- LowerCommunication.cpp - Calls for collectives, messages, events ---===//
//
// A collective over dimension d sees a tensor as [outer, d, inner], in the
// order of memory, which is one order on both sides.
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/OpTable.h"
#include "autopar/Dialect/Shapes.h"

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

Typed<int32_t> record(HostFunction &host, Operation *op) {
  return host.op(describeOp(op, op->getName().stripDialect()));
}

/// Reserves at least one byte, also if the tensors of every rank are empty.
template <typename OpT> int32_t communicator(HostFunction &host, OpT op) {
  int64_t bytes = std::max<int64_t>(1, bytesOf(op.getInput().getType()));
  bytes = std::max(bytes, bytesOf(op.getOutput().getType()));
  return host.program.communicator(op.getAxes(), bytes);
}

aprt_dtype dtype(Value memref) {
  return dtypeOf(getElementTypeOrSelf(memref.getType()));
}

aprt_reduce reduction(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return APRT_SUM;
  case ReduceKind::Prod:
    return APRT_PROD;
  case ReduceKind::Max:
    return APRT_MAX;
  case ReduceKind::Min:
    return APRT_MIN;
  }
  llvm_unreachable("all kinds are above");
}

void lower(HostFunction &host, AllReduceOp op) {
  auto type = cast<ShapedType>(op.getInput().getType());
  host.call<aprt_all_reduce>(record(host, op), communicator(host, op),
                             reduction(op.getKind()), dtype(op.getInput()),
                             type.getNumElements(), host.address(op.getInput()),
                             host.address(op.getOutput()));
}

void lower(HostFunction &host, AllGatherOp op) {
  Around in = around(op.getInput(), op.getDim());
  Around out = around(op.getOutput(), op.getDim());
  host.call<aprt_all_gather>(
      record(host, op), communicator(host, op), dtype(op.getInput()),
      /*outer=*/out.outer, /*size=*/out.size, /*block=*/in.size,
      /*inner=*/out.inner, host.address(op.getInput()),
      host.address(op.getOutput()));
}

void lower(HostFunction &host, ReduceScatterOp op) {
  Around in = around(op.getInput(), op.getDim());
  Around out = around(op.getOutput(), op.getDim());
  host.call<aprt_reduce_scatter>(
      record(host, op), communicator(host, op), reduction(op.getKind()),
      dtype(op.getInput()), /*outer=*/in.outer, /*size=*/in.size,
      /*block=*/out.size, /*inner=*/in.inner, host.address(op.getInput()),
      host.address(op.getOutput()));
}

namespace {
/// The dimensions of an all-to-all in memory order; those side by side that it
/// leaves as they are count as one, so that they are five at most.
struct ExchangeDims {
  std::vector<int64_t> in, out; // sizes
  int32_t split = 0, concat = 0;
};
} // namespace

static ExchangeDims exchangeDims(AllToAllOp op) {
  auto in = cast<ShapedType>(op.getInput().getType());
  auto out = cast<ShapedType>(op.getOutput().getType());
  ExchangeDims dims;
  bool isLastKept = false; // so that the next one that is kept joins it
  for (int64_t dim : fullLayout(layoutOf(in), in.getRank())) {
    bool isSplit = dim == int64_t(op.getSplitDim());
    bool isConcat = dim == int64_t(op.getConcatDim());
    bool isKept = !isSplit && !isConcat;
    if (isKept && isLastKept) {
      dims.in.back() *= in.getDimSize(dim);
      dims.out.back() *= out.getDimSize(dim);
      continue;
    }
    isLastKept = isKept;
    if (isSplit)
      dims.split = dims.in.size();
    if (isConcat)
      dims.concat = dims.in.size();
    dims.in.push_back(in.getDimSize(dim));
    dims.out.push_back(out.getDimSize(dim));
  }
  return dims;
}

void lower(HostFunction &host, AllToAllOp op) {
  ExchangeDims dims = exchangeDims(op);
  auto inShape = host.program.words(dims.in),
       outShape = host.program.words(dims.out);
  host.call<aprt_all_to_all>(
      record(host, op), communicator(host, op), dtype(op.getInput()),
      static_cast<int32_t>(dims.in.size()), inShape, outShape,
      /*split_dim=*/dims.split, /*concat_dim=*/dims.concat,
      host.address(op.getInput()), host.address(op.getOutput()));
}

void lower(HostFunction &host, HaloOp op) {
  Around in = around(op.getInput(), op.getDim());
  Around out = around(op.getOutput(), op.getDim());
  host.call<aprt_halo>(
      record(host, op), communicator(host, op), dtype(op.getInput()),
      /*outer=*/in.outer, /*size=*/int64_t(op.getSize()), /*block=*/in.size,
      /*inner=*/in.inner, /*step=*/int64_t(op.getStep()),
      /*offset=*/int64_t(op.getOffset()), /*length=*/out.size,
      /*fill=*/op.getFill().convertToDouble(), host.address(op.getInput()),
      host.address(op.getOutput()));
}

void lower(HostFunction &host, SendOp op) {
  int64_t bytes = bytesOf(op.getInput().getType());
  host.program.useChannel(
      op.getChannel(),
      {host.stage, static_cast<int64_t>(op.getToStage()), bytes});
  host.call<aprt_send>(record(host, op), int32_t(op.getChannel()),
                       host.address(op.getInput()), bytes);
}

void lower(HostFunction &host, RecvOp op) {
  int64_t bytes = bytesOf(op.getOutput().getType());
  host.program.useChannel(
      op.getChannel(),
      {static_cast<int64_t>(op.getFromStage()), host.stage, bytes});
  host.call<aprt_recv>(record(host, op), int32_t(op.getChannel()),
                       host.address(op.getOutput()), bytes);
}

/// The row carries the stream that records or waits.
template <typename OpT> Typed<int32_t> eventRow(HostFunction &host, OpT op) {
  ProgramOp row = describeOp(op, "event");
  row.stream = op.getStream();
  return host.op(std::move(row));
}

void lower(HostFunction &host, RecordEventOp op) {
  host.call<aprt_event_record>(eventRow(host, op), int32_t(op.getEvent()));
}

void lower(HostFunction &host, WaitEventOp op) {
  host.call<aprt_event_wait>(eventRow(host, op), int32_t(op.getEvent()));
}

void lower(HostFunction &host, CollectiveBroadcastOp op) {
  auto type = cast<ShapedType>(op.getInput().getType());
  host.call<aprt_broadcast>(record(host, op), communicator(host, op),
                            /*root=*/int32_t(op.getRoot()),
                            dtype(op.getInput()), type.getNumElements(),
                            host.address(op.getInput()),
                            host.address(op.getOutput()));
}

struct Lower {
  template <typename OpT>
  auto operator()(OpT op, HostFunction &host) const
      -> decltype(lower(host, op)) {
    lower(host, op);
  }
};

} // namespace

LogicalResult lowerCommunication(HostFunction &host, Operation *op) {
  static const auto table = OpTable<void, HostFunction &>::of(Lower());
  auto *lowered = table.find(op);
  if (!lowered)
    return op->emitOpError("is no call of the runtime; schedule the function "
                           "first (autopar-form-kernels)");
  (*lowered)(op, host);
  return success();
}

} // namespace autopar
