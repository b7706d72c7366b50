//===- ReplayStreams.cpp - Streams that share memory are ordered ----------===//

#include "Replay.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/KernelFacts.h"
#include <map>

using namespace mlir;

namespace autopar {
namespace {

/// The amount of each stream's work that is known to be done.
using Clock = SmallVector<int64_t, 2>;

struct Access {
  Operation *op;
  int64_t stream, time;
  bool write;
};

/// Bytes begin (the key) to end, and who touched them since the last write.
struct Cell {
  int64_t end;
  SmallVector<Access, 2> accesses;
};
using Memory = std::map<int64_t, Cell>;

class StreamReplay {
public:
  StreamReplay(func::FuncOp func, int64_t streams)
      : func(func), clocks(streams, Clock(streams)) {
    clocks[0][0] = 1; // the start of the step
  }
  LogicalResult run();

private:
  FailureOr<int64_t> streamOf(Operation *op, IntegerAttr stream);
  LogicalResult record(RecordEventOp op);
  LogicalResult wait(WaitEventOp op);
  LogicalResult work(Operation *op);
  LogicalResult checkStream(Operation *op, int64_t stream);
  LogicalResult checkCommunication(Operation *op, int64_t stream);
  LogicalResult touch(Value value, const Access &access);
  LogicalResult checkOrdered(const Access &access, const Access &earlier);

  func::FuncOp func;
  SmallVector<Clock> clocks; // per stream
  std::map<int64_t, Clock> events;
  std::map<BufferSpace, Memory> memory;
  Operation *communication = nullptr;
  int64_t communicationStream = 0;
};
} // namespace

static void join(Clock &clock, const Clock &other) {
  for (auto [mine, theirs] : llvm::zip_equal(clock, other))
    mine = std::max(mine, theirs);
}

static void splitAt(Memory &memory, int64_t at) {
  auto after = memory.upper_bound(at);
  if (after == memory.begin())
    return;
  auto cell = std::prev(after);
  if (cell->first == at || cell->second.end <= at)
    return;
  memory[at] = cell->second;
  cell->second.end = at;
}

FailureOr<int64_t> StreamReplay::streamOf(Operation *op, IntegerAttr stream) {
  int64_t number = stream ? stream.getInt() : 0;
  if (number >= 0 && number < int64_t(clocks.size()))
    return number;
  return op->emitError() << "is on stream " << number << ", but the target has "
                         << clocks.size();
}

LogicalResult StreamReplay::record(RecordEventOp op) {
  FailureOr<int64_t> stream = streamOf(op, op.getStreamAttr());
  if (failed(stream))
    return failure();
  if (int64_t(op.getEvent()) < 0)
    return op.emitError("has a negative event");
  events[op.getEvent()] = clocks[*stream];
  return success();
}

LogicalResult StreamReplay::wait(WaitEventOp op) {
  FailureOr<int64_t> stream = streamOf(op, op.getStreamAttr());
  if (failed(stream))
    return failure();
  auto event = events.find(op.getEvent());
  if (event == events.end())
    return op.emitError() << "waits for event " << op.getEvent()
                          << ", which nothing has recorded";
  join(clocks[*stream], event->second);
  return success();
}

LogicalResult StreamReplay::checkOrdered(const Access &access,
                                         const Access &earlier) {
  bool conflict = access.write || earlier.write;
  if (!conflict || clocks[access.stream][earlier.stream] >= earlier.time)
    return success();
  InFlightDiagnostic error =
      access.op->emitError()
      << "on stream " << access.stream << (access.write ? " writes" : " reads")
      << " what stream " << earlier.stream
      << (earlier.write ? " writes" : " reads") << ", and no event orders them";
  error.attachNote(earlier.op->getLoc()) << "the other is here";
  return error;
}

/// Compares with all who touched the value's memory before, and joins them.
LogicalResult StreamReplay::touch(Value value, const Access &access) {
  auto buffer = value.getDefiningOp<BufferOp>();
  int64_t begin = buffer.getPosition(), size = 1;
  if (buffer.getSpace() == BufferSpace::Arena) {
    begin += byteOffset(buffer.getType());
    size = bytesOf(buffer.getType());
  }
  if (size == 0)
    return success();
  Memory &cells = memory[buffer.getSpace()];
  splitAt(cells, begin);
  splitAt(cells, begin + size);
  int64_t at = begin;
  for (auto it = cells.lower_bound(begin);
       it != cells.end() && it->first < begin + size; ++it) {
    for (const Access &earlier : it->second.accesses)
      if (failed(checkOrdered(access, earlier)))
        return failure();
    if (access.write)
      continue;
    auto &accesses = it->second.accesses;
    llvm::erase_if(accesses, [&](const Access &earlier) {
      return !earlier.write && earlier.stream == access.stream;
    });
    accesses.push_back(access);
    if (it->first > at)
      cells[at] = {it->first, {access}};
    at = it->second.end;
  }
  if (access.write) {
    cells.erase(cells.lower_bound(begin), cells.lower_bound(begin + size));
    at = begin;
  }
  if (at < begin + size)
    cells[at] = {begin + size, {access}};
  return success();
}

/// Whatever computes is on stream 0: calls of a library share one workspace.
LogicalResult StreamReplay::checkStream(Operation *op, int64_t stream) {
  if (isCommunication(op))
    return checkCommunication(op, stream);
  if (stream == 0)
    return success();
  return op->emitError() << "computes on stream " << stream
                         << "; kernels and library calls share one workspace "
                            "and must be on stream 0";
}

/// Checks that all communication is on one stream: only then do all ranks of a
/// communicator run their collectives in one order.
LogicalResult StreamReplay::checkCommunication(Operation *op, int64_t stream) {
  if (!communication) {
    communication = op;
    communicationStream = stream;
  }
  if (stream == communicationStream)
    return success();
  InFlightDiagnostic error =
      op->emitError() << "communicates on stream " << stream
                      << "; all communication of a step must be on one stream, "
                         "so that every rank has one order of it";
  error.attachNote(communication->getLoc())
      << "here it is on stream " << communicationStream;
  return error;
}

LogicalResult StreamReplay::work(Operation *op) {
  FailureOr<int64_t> stream =
      streamOf(op, op->getAttrOfType<IntegerAttr>(AutoparDialect::kStream));
  if (failed(stream) || failed(checkStream(op, *stream)))
    return failure();
  if (clocks[*stream][0] == 0)
    return op->emitError() << "on stream " << *stream
                           << " does not wait for the start of the step on "
                              "stream 0";
  int64_t time = ++clocks[*stream][*stream];
  bool kernel = isa<KernelOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    bool write = kernel ? number >= cast<KernelOp>(op).getInputs().size()
                        : isa<RecvOp>(op) || number > 0;
    if (failed(touch(operand.get(), {op, *stream, time, write})))
      return failure();
  }
  return success();
}

LogicalResult StreamReplay::run() {
  Block &body = func.getBody().front();
  for (Operation &op : body.without_terminator()) {
    LogicalResult result = success();
    if (auto event = dyn_cast<RecordEventOp>(op))
      result = record(event);
    else if (auto event = dyn_cast<WaitEventOp>(op))
      result = wait(event);
    else if (!isa<BufferOp>(op))
      result = work(&op);
    if (failed(result))
      return failure();
  }
  for (auto [stream, clock] : llvm::enumerate(clocks))
    if (clocks[0][stream] < clock[stream])
      return body.getTerminator()->emitError()
             << "ends the step before stream " << stream << " has ended";
  return success();
}

LogicalResult replayStreams(func::FuncOp func) {
  bool two = targetTable(func).communication.ownStream;
  return StreamReplay(func, two ? 2 : 1).run();
}

} // namespace autopar
