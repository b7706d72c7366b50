//===- AssignStreams.cpp - Put work on streams and order them by events ---===//
//
// Stream 0 has kernels and library calls, stream 1 all communication of a step:
//
//   kernel A; all_reduce of A's result; kernel B; kernel C reads the reduction
// becomes
//   kernel A; record 0 on 0; wait 0 on 1; all_reduce (stream 1); record 0 on 1;
//   kernel B; wait 0 on 0; kernel C
//
// Only one stream communicates. Collectives of several communicators that run
// at a time can wait for each other's processors for ever unless every rank
// starts them in one order; a single stream is that order.
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/TargetTable.h"
#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Schedule/Passes.h"
#include <map>
#include <set>

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "autopar/Schedule/Passes.h.inc"

namespace {

constexpr unsigned kStreams = 2;
/// Points of the program: 0 is its start, and op number i of the work is i + 1.
/// kBefore stands for work that has not happened on a stream.
constexpr int64_t kBefore = -1;
using Points = std::array<int64_t, kStreams>; // per stream
constexpr Points kNever = {kBefore, kBefore};

void raise(Points &points, const Points &other) {
  for (unsigned stream = 0; stream < kStreams; ++stream)
    points[stream] = std::max(points[stream], other[stream]);
}

/// The last read and the last write of each byte, or persistent tensor, on each
/// stream since it was last written.
class Accesses {
public:
  Accesses() { cells[0] = {INT64_MAX, kNever, {0, kBefore}}; }

  void read(int64_t begin, int64_t end, unsigned stream, int64_t point,
            Points &conflicts) {
    for (auto it = split(begin), last = split(end); it != last; ++it) {
      raise(conflicts, it->second.writes);
      it->second.reads[stream] = point;
    }
  }

  void write(int64_t begin, int64_t end, unsigned stream, int64_t point,
             Points &conflicts) {
    auto first = split(begin), last = split(end);
    for (auto it = first; it != last; ++it) {
      raise(conflicts, it->second.reads);
      raise(conflicts, it->second.writes);
    }
    cells.erase(first, last);
    Cell written{end, kNever, kNever};
    written.writes[stream] = point;
    cells[begin] = written;
  }

private:
  struct Cell {
    int64_t end;
    Points reads, writes;
  };
  using Cells = std::map<int64_t, Cell>; // by begin; no gaps

  /// The first cell at or after `at`, after cutting the one that holds `at`.
  Cells::iterator split(int64_t at) {
    auto it = cells.upper_bound(at);
    auto over = std::prev(it);
    if (over->first == at)
      return over;
    if (over->second.end <= at)
      return it;
    Cell right = over->second;
    over->second.end = at;
    return cells.emplace_hint(it, at, right);
  }
  Cells cells;
};

/// `waiter` goes on after `source`, both points.
struct Dependence {
  int64_t source, waiter;
};

/// Finds which waits order all conflicts of one function's work.
class Dependences {
public:
  explicit Dependences(ArrayRef<Operation *> ops) : ops(ops) {}
  std::vector<Dependence> run();

private:
  Points conflictsOf(Operation *op, unsigned stream, int64_t point);
  void step(unsigned stream, int64_t point, const Points &conflicts);

  ArrayRef<Operation *> ops;
  Accesses arena, persistent;
  std::array<Points, kStreams> known; // by each stream
  std::vector<Points> knownAt;        // per point, itself included
  std::vector<Dependence> waits;
};
} // namespace

static unsigned streamOf(Operation *op) { return isCommunication(op) ? 1 : 0; }

/// A kernel's outputs, and the last operand of communication but of a send.
static ValueRange writtenBy(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getOutputs();
  ValueRange operands = op->getOperands();
  return isa<SendOp>(op) ? ValueRange() : operands.take_back(1);
}

/// The last points on each stream that the op must come after.
Points Dependences::conflictsOf(Operation *op, unsigned stream, int64_t point) {
  Points conflicts = kNever;
  ValueRange writes = writtenBy(op);
  ValueRange reads = op->getOperands().drop_back(writes.size());
  for (bool write : {false, true})
    for (Value value : write ? writes : reads) {
      auto buffer = value.getDefiningOp<BufferOp>();
      bool inArena = buffer.getSpace() == BufferSpace::Arena;
      int64_t begin = buffer.getPosition(), end = begin + 1;
      if (inArena) {
        begin += byteOffset(buffer.getType());
        end = begin + bytesOf(buffer.getType());
      }
      if (begin == end)
        continue;
      Accesses &space = inArena ? arena : persistent;
      write ? space.write(begin, end, stream, point, conflicts)
            : space.read(begin, end, stream, point, conflicts);
    }
  return conflicts;
}

/// Adds waits for conflicts that the stream does not know to be done. Work that
/// an added wait implies needs no wait of its own.
void Dependences::step(unsigned stream, int64_t point,
                       const Points &conflicts) {
  for (unsigned other = 0; other < kStreams; ++other) {
    if (other == stream || conflicts[other] <= known[stream][other])
      continue;
    waits.push_back({conflicts[other], point});
    raise(known[stream], knownAt[conflicts[other]]);
  }
  known[stream][stream] = point;
  knownAt.push_back(known[stream]);
}

std::vector<Dependence> Dependences::run() {
  known.fill(kNever);
  known[0][0] = 0;
  knownAt.push_back(known[0]);
  Points last = {0, kBefore};
  for (auto [index, op] : llvm::enumerate(ops)) {
    unsigned stream = streamOf(op);
    int64_t point = index + 1;
    Points conflicts = conflictsOf(op, stream, point);
    conflicts[0] = std::max<int64_t>(conflicts[0], 0); // the step has begun
    step(stream, point, conflicts);
    last[stream] = point;
  }
  step(0, ops.size() + 1, last); // the end joins all streams
  return std::move(waits);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

namespace {
/// Writes records and waits into the function. An event's number is free again
/// after its last wait: waits that were put on a stream keep the record they
/// saw.
class EventWriter {
public:
  EventWriter(ArrayRef<Operation *> ops, Operation *end,
              ArrayRef<Dependence> waits)
      : ops(ops), end(end), waits(waits), lastWait(ops.size() + 1, kBefore) {
    for (const Dependence &wait : waits)
      lastWait[wait.source] = wait.waiter;
  }
  void run();

private:
  void wait(const Dependence &dependence);
  void record(int64_t point);
  Operation *opAt(int64_t point) const {
    return point > int64_t(ops.size()) ? end
                                       : ops[std::max<int64_t>(point, 1) - 1];
  }

  ArrayRef<Operation *> ops;
  Operation *end;
  ArrayRef<Dependence> waits;        // by waiter
  std::vector<int64_t> lastWait;     // per point that may be recorded
  std::map<int64_t, int64_t> events; // the points that events recorded
  std::set<int64_t> unused;
  int64_t count = 0;
};
} // namespace

template <typename EventOp>
static void createEvent(OpBuilder &builder, Operation *at, int64_t event,
                        int64_t stream) {
  auto op = EventOp::create(builder, at->getLoc(), event, stream);
  if (Attribute name = at->getAttr(AutoparDialect::kOp))
    op->setAttr(AutoparDialect::kOp, name);
}

void EventWriter::record(int64_t point) {
  int64_t event = unused.empty() ? count++ : *unused.begin();
  unused.erase(event);
  events[point] = event;
  Operation *op = opAt(point);
  OpBuilder builder(op);
  if (point > 0)
    builder.setInsertionPointAfter(op);
  createEvent<RecordEventOp>(builder, op, event, point > 0 ? streamOf(op) : 0);
}

void EventWriter::wait(const Dependence &dependence) {
  Operation *op = opAt(dependence.waiter);
  OpBuilder builder(op);
  auto event = events.find(dependence.source);
  createEvent<WaitEventOp>(builder, op, event->second,
                           op == end ? 0 : streamOf(op));
  if (lastWait[dependence.source] != dependence.waiter)
    return;
  unused.insert(event->second);
  events.erase(event);
}

void EventWriter::run() {
  const Dependence *next = waits.begin();
  for (int64_t point = 0; point <= int64_t(ops.size()) + 1; ++point) {
    for (; next != waits.end() && next->waiter == point; ++next)
      wait(*next);
    if (point <= int64_t(ops.size()) && lastWait[point] != kBefore)
      record(point);
  }
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

static void assignStreams(func::FuncOp func) {
  Block &body = func.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (!isa<BufferOp>(op))
      ops.push_back(&op);
  if (llvm::none_of(ops, isCommunication))
    return;
  Builder builder(func.getContext());
  for (Operation *op : ops)
    if (unsigned stream = streamOf(op))
      op->setAttr(AutoparDialect::kStream, builder.getI64IntegerAttr(stream));
  std::vector<Dependence> waits = Dependences(ops).run();
  EventWriter(ops, body.getTerminator(), waits).run();
}

/// Returns whether the function is a setup. Its work stays on one stream,
/// because it frees tensors after their last use.
static bool givesSetupValues(func::FuncOp func) {
  auto results = func->getAttrOfType<ArrayAttr>(AutoparDialect::kResults);
  return results && llvm::any_of(results, [](Attribute result) {
           auto port = dyn_cast<PortAttr>(result);
           return port && isa_and_nonnull<SetupValueAttr>(port.getWhat());
         });
}

static LogicalResult checkPlaced(func::FuncOp func) {
  for (Operation &op : func.getBody().front())
    for (Value operand : op.getOperands())
      if (!operand.getDefiningOp<BufferOp>())
        return op.emitError("has an operand that is no autopar.buffer; run "
                            "autopar-assign-buffers first");
  return success();
}

namespace {
struct AssignStreams : impl::AssignStreamsBase<AssignStreams> {
  void runOnOperation() override {
    if (!targetTable(getOperation()).communication.ownStream)
      return;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal() || givesSetupValues(func))
        continue;
      if (failed(checkPlaced(func)))
        return signalPassFailure();
      assignStreams(func);
    }
  }
};
} // namespace
} // namespace autopar
