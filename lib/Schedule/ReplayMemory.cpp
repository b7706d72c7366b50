//===- ReplayMemory.cpp - Each read sees the write of its value -----------===//

#include "ElementOrder.h"
#include "Replay.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace mlir;

namespace autopar {
namespace {

/// A buffer as the replay sees it.
struct Tracked {
  BufferSpace space;
  int64_t position;   // position of the value: a byte of the arena, or an index
  int64_t begin, end; // bytes of the arena, or index and index + 1
  int64_t value;
  ShapedType type;
};

/// The place of a value and the order of its elements, and the op that says so.
struct Whole {
  Tracked place;
  ElementOrder order;
  Operation *from;
};

/// The value that each byte of the arena holds, and the op that wrote it.
class Memory {
public:
  struct Cell {
    int64_t end, value;
    Operation *writer;
  };

  void write(int64_t begin, int64_t end, int64_t value, Operation *writer) {
    split(begin);
    split(end);
    cells.erase(cells.lower_bound(begin), cells.lower_bound(end));
    cells[begin] = {end, value, writer};
  }

  /// The first cell of begin..end that does not hold `value`: its writer, null
  /// where nothing was written; nullopt if all of it does.
  std::optional<Operation *> missing(int64_t begin, int64_t end,
                                     int64_t value) const {
    auto it = cells.upper_bound(begin);
    if (it != cells.begin())
      --it;
    while (begin < end) {
      if (it == cells.end() || it->first > begin || it->second.end <= begin)
        return nullptr;
      if (it->second.value != value)
        return it->second.writer;
      begin = it->second.end;
      ++it;
    }
    return std::nullopt;
  }

private:
  void split(int64_t at) {
    auto it = cells.lower_bound(at);
    if (it == cells.begin())
      return;
    --it;
    if (it->second.end <= at)
      return;
    Cell right = it->second;
    it->second.end = at;
    cells[at] = right;
  }
  std::map<int64_t, Cell> cells;
};

class Replay {
public:
  explicit Replay(func::FuncOp func) : func(func) {}
  LogicalResult run();

private:
  LogicalResult noteWhole(Operation *op, const Tracked &place);
  LogicalResult checkElements(Operation *op, const Tracked &place);
  LogicalResult checkBuffer(BufferOp buffer);
  LogicalResult step(Operation *op);
  LogicalResult read(Operation *op, const Tracked &place);
  LogicalResult readGradients(Operation *op, int64_t value);
  LogicalResult checkOverlap(Operation *op, ArrayRef<Tracked> reads,
                             ArrayRef<Tracked> writes);
  FailureOr<SmallVector<Tracked>> signature(StringRef name);
  void noteSignature(ArrayRef<Tracked> arguments, ArrayRef<Tracked> results);
  bool isGradient(size_t result);

  func::FuncOp func;
  Memory arena;
  llvm::DenseSet<int64_t> persistent; // indices that hold their tensor
  llvm::DenseSet<int64_t> owned;      // indices that this function writes
  /// The value that each state's index holds, and its next one.
  llvm::DenseMap<int64_t, std::pair<int64_t, int64_t>> states;
  llvm::DenseMap<int64_t, Whole> wholes; // by value
  /// Results that are read as soon as their value is written, by the value's
  /// number.
  llvm::DenseMap<int64_t, SmallVector<Tracked, 1>> gradients;
};
} // namespace

static Tracked placeAt(BufferSpace space, int64_t position, Type type,
                       int64_t value) {
  bool isArena = space == BufferSpace::Arena;
  int64_t begin = position + (isArena ? byteOffset(type) : 0);
  int64_t end = begin + (isArena ? bytesOf(type) : 1);
  return {space, position, begin, end, value, cast<ShapedType>(type)};
}

static Tracked placeOf(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  auto value = buffer->getAttrOfType<IntegerAttr>(AutoparDialect::kValue);
  return placeAt(buffer.getSpace(), buffer.getPosition(), buffer.getType(),
                 value.getInt());
}

/// The places of `autopar.arguments` or `autopar.results`.
FailureOr<SmallVector<Tracked>> Replay::signature(StringRef name) {
  SmallVector<Tracked> places;
  auto entries = func->getAttrOfType<ArrayAttr>(name);
  if (!entries)
    return func.emitError()
           << "has no " << name << "; run autopar-assign-buffers first";
  for (Attribute attribute : entries) {
    auto port = dyn_cast<PortAttr>(attribute);
    if (!port || port.getValue() < 0)
      return func.emitError()
             << name << " has " << attribute
             << ", which is no #autopar.port with the number of a value";
    places.push_back(placeAt(port.getSpace(), port.getPosition(),
                             port.getType(), port.getValue()));
  }
  return places;
}

/// The buffer of a value that has most of its elements is the whole of it.
LogicalResult Replay::noteWhole(Operation *op, const Tracked &place) {
  std::optional<ElementOrder> order = ElementOrder::of(place.type);
  if (!order)
    return op->emitError() << "has strides that leave gaps or overlap: "
                           << place.type;
  Whole whole{place, *order, op};
  auto [it, isNew] = wholes.try_emplace(place.value, whole);
  if (it->second.place.type.getNumElements() < place.type.getNumElements())
    it->second = whole;
  return success();
}

/// Checks that all buffers of one value name the same element by the same
/// row-major number. Reshapes, which are no ops any more, keep that number.
/// Arguments and results are row-major. A part of a value is a run of its
/// elements in row-major order.
LogicalResult Replay::checkElements(Operation *op, const Tracked &place) {
  const Whole &whole = wholes.find(place.value)->second;
  ElementOrder order = *ElementOrder::of(place.type);
  int64_t first = elementOffset(place.type),
          count = place.type.getNumElements(),
          all = whole.place.type.getNumElements();
  bool isWhole = first == 0 && count == all && order == whole.order;
  bool isPart = count <= all && first <= all - count && order.isRowMajor() &&
                whole.order.isRowMajor();
  bool sameElements =
      whole.place.type.getElementType() == place.type.getElementType();
  bool samePlace = whole.place.space == place.space &&
                   whole.place.position == place.position;
  if ((isWhole || isPart) && sameElements && samePlace)
    return success();
  InFlightDiagnostic error =
      op->emitError() << "has value " << place.value << " as " << place.type
                      << (samePlace ? ", which names other elements"
                                    : ", at another place");
  error.attachNote(whole.from->getLoc()) << "here it is " << whole.place.type;
  return error;
}

LogicalResult Replay::checkBuffer(BufferOp buffer) {
  if (!buffer->hasAttr(AutoparDialect::kValue))
    return buffer.emitError()
           << "does not say which value it holds: " << AutoparDialect::kValue
           << " is missing";
  Tracked place = placeOf(buffer);
  if (buffer.getSpace() == BufferSpace::Persistent) {
    if (elementOffset(buffer.getType()) == 0 || isHeldInput(buffer))
      return success();
    return buffer.emitError("is a part of a parameter or setup value, which "
                            "may be packed: only inputs have parts");
  }
  int64_t bytes =
      func->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes).getInt();
  if (place.begin < 0 || place.end > bytes || place.position % 64 != 0)
    return buffer.emitError()
           << "is stored at [" << place.begin << ", " << place.end
           << "), not on a multiple of 64 inside of the "
           << "arena of " << bytes << " bytes";
  return success();
}

LogicalResult Replay::read(Operation *op, const Tracked &place) {
  if (place.space == BufferSpace::Persistent) {
    auto state = states.find(place.begin);
    if (state != states.end() && state->second.first != place.value)
      return op->emitError()
             << "reads value " << place.value << " of the state in persistent "
             << "tensor " << place.begin << ", which holds value "
             << state->second.first << " then";
    if (persistent.contains(place.begin))
      return success();
    return op->emitError() << "reads persistent tensor " << place.begin
                           << ", which is no argument and not yet written";
  }
  std::optional<Operation *> writer =
      arena.missing(place.begin, place.end, place.value);
  if (!writer)
    return success();
  InFlightDiagnostic error =
      op->emitError() << "reads value " << place.value << " in arena bytes ["
                      << place.begin << ", " << place.end << "), where "
                      << (*writer ? "another value" : "nothing")
                      << " was written";
  if (*writer && *writer != op)
    error.attachNote((*writer)->getLoc()) << "the other value is written here";
  return error;
}

/// `op` has written `value`.
LogicalResult Replay::readGradients(Operation *op, int64_t value) {
  auto found = gradients.find(value);
  if (found == gradients.end())
    return success();
  for (const Tracked &place : found->second)
    if (failed(read(op, place)))
      return failure();
  gradients.erase(found);
  return success();
}

static bool overlap(const Tracked &a, const Tracked &b) {
  return a.space == b.space && a.begin < b.end && b.begin < a.end;
}

/// The input that output `index` of `op` may be written over; -1: none.
static int64_t inPlaceInput(Operation *op, unsigned index) {
  if (isa<AllReduceOp>(op))
    return 0;
  auto inputs = op->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kInPlace);
  return inputs && isa<KernelOp>(op) ? inputs[index] : -1;
}

LogicalResult Replay::checkOverlap(Operation *op, ArrayRef<Tracked> reads,
                                   ArrayRef<Tracked> writes) {
  auto kernel = dyn_cast<KernelOp>(op);
  for (auto [index, write] : llvm::enumerate(writes)) {
    for (const Tracked &other : writes.drop_front(index + 1))
      if (overlap(write, other))
        return op->emitError() << "writes two results to overlapping places";
    int64_t allowed = inPlaceInput(op, index);
    for (auto [input, place] : llvm::enumerate(reads)) {
      bool same = int64_t(input) == allowed && place.begin == write.begin &&
                  place.end == write.end;
      if (overlap(write, place) && !same)
        return op->emitError() << "writes result " << index << " over input "
                               << input << ", which it may still read";
      if (same && kernel && overlap(write, place) &&
          failed(replayInPlace(kernel, index, input)))
        return failure();
    }
  }
  return success();
}

LogicalResult Replay::step(Operation *op) {
  SmallVector<Tracked> reads, writes;
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    llvm::append_range(reads, llvm::map_range(kernel.getInputs(), placeOf));
    llvm::append_range(writes, llvm::map_range(kernel.getOutputs(), placeOf));
  } else if (isa<RecvOp>(op)) {
    writes.push_back(placeOf(op->getOperand(0)));
  } else {
    reads.push_back(placeOf(op->getOperand(0)));
    if (op->getNumOperands() > 1)
      writes.push_back(placeOf(op->getOperand(1)));
    if (!writes.empty() &&
        !sameDimensionOrder(reads.front().type, writes.front().type))
      return op->emitError()
             << "reads and writes in two orders of memory: "
             << reads.front().type << " and " << writes.front().type;
  }
  for (const Tracked &place : reads)
    if (failed(read(op, place)))
      return failure();
  if (failed(checkOverlap(op, reads, writes)))
    return failure();
  for (const Tracked &place : writes) {
    auto state = place.space == BufferSpace::Persistent
                     ? states.find(place.begin)
                     : states.end();
    if (place.space == BufferSpace::Arena) {
      arena.write(place.begin, place.end, place.value, op);
      if (failed(readGradients(op, place.value)))
        return failure();
    } else if (state != states.end() && state->second.second == place.value)
      state->second.first = place.value;
    else if (!owned.contains(place.begin))
      return op->emitError() << "writes persistent tensor " << place.begin
                             << ", which is no result of this function";
    else
      persistent.insert(place.begin);
  }
  return success();
}

/// Entry `index` of `autopar.arguments` or `autopar.results`, which signature()
/// has checked.
static PortAttr entryOf(func::FuncOp func, StringRef name, size_t index) {
  return cast<PortAttr>(func->getAttrOfType<ArrayAttr>(name)[index]);
}

bool Replay::isGradient(size_t result) {
  return isa_and_nonnull<GradientAttr>(
      entryOf(func, AutoparDialect::kResults, result).getWhat());
}

/// Notes the contents of memory at the start, and the places that the function
/// may write.
void Replay::noteSignature(ArrayRef<Tracked> arguments,
                           ArrayRef<Tracked> results) {
  for (auto [index, place] : llvm::enumerate(arguments)) {
    if (place.space == BufferSpace::Persistent)
      persistent.insert(place.begin);
    else
      arena.write(place.begin, place.end, place.value, func);
    if (isa_and_nonnull<StateAttr>(
            entryOf(func, AutoparDialect::kArguments, index).getWhat()))
      states[place.begin] = {place.value, place.value};
  }
  for (auto [index, place] : llvm::enumerate(results)) {
    if (isGradient(index))
      gradients[place.value].push_back(place);
    if (place.space != BufferSpace::Persistent)
      continue;
    if (!persistent.contains(place.begin))
      owned.insert(place.begin);
    if (auto state = states.find(place.begin); state != states.end())
      state->second.second = place.value;
  }
}

LogicalResult Replay::run() {
  FailureOr<SmallVector<Tracked>> arguments =
      signature(AutoparDialect::kArguments);
  FailureOr<SmallVector<Tracked>> results = signature(AutoparDialect::kResults);
  if (failed(arguments) || failed(results))
    return failure();
  if (!func->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes))
    return func.emitError() << "has no " << AutoparDialect::kArenaBytes;
  noteSignature(*arguments, *results);

  Block &body = func.getBody().front();
  for (BufferOp buffer : body.getOps<BufferOp>())
    if (failed(checkBuffer(buffer)))
      return failure();
  SmallVector<std::pair<Operation *, Tracked>> places;
  for (ArrayRef<Tracked> listed : {ArrayRef(*arguments), ArrayRef(*results)})
    for (const Tracked &place : listed)
      places.push_back({func, place});
  for (BufferOp buffer : body.getOps<BufferOp>())
    places.push_back({buffer, placeOf(buffer)});
  for (auto check : {&Replay::noteWhole, &Replay::checkElements})
    for (auto &[op, place] : places)
      if (failed((this->*check)(op, place)))
        return failure();
  for (Operation &op : body.without_terminator())
    if (!isa<BufferOp, RecordEventOp, WaitEventOp>(op) && failed(step(&op)))
      return failure();
  for (auto [index, place] : llvm::enumerate(*results))
    if (bool wasRead = isGradient(index) && !gradients.contains(place.value);
        !wasRead && failed(read(body.getTerminator(), place)))
      return failure();
  return success();
}

LogicalResult replayMemory(func::FuncOp func) { return Replay(func).run(); }

} // namespace autopar
