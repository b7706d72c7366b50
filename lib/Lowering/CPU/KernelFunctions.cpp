//===- KernelFunctions.cpp - Kernels as functions of bare pointers --------===//
//
// A kernel's outputs have one space of iterations: the elements of its widest
// output. A first emission into a function that is thrown away treats the space
// as flat and learns where indices are cut into digits; the second makes one
// loop per piece between cuts. Elementwise kernels keep one flat loop, kernels
// with a bias along the columns get rows and columns, and so on.
//
//===----------------------------------------------------------------------===//

#include "KernelFunctions.h"
#include "KernelNest.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar::cpu {

namespace {

/// Iterations of one launch piece are worth about this many elements.
constexpr int64_t kElementsPerPiece = 8192;
/// The buffer op behind a memref, as a key.
std::string placeOf(Value memref) {
  if (auto buffer = memref.getDefiningOp<BufferOp>())
    return (stringifyBufferSpace(buffer.getSpace()) + "[" +
            Twine(buffer.getPosition()) + "]")
        .str();
  return "";
}

/// One emission of a kernel's body.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, KernelOp kernel, ArrayRef<unsigned> slots,
                ArrayRef<ArrayAttr> positions)
      : builder(builder), kernel(kernel), slots(slots), positions(positions) {}

  /// The function with arguments (buffers..., scalars, begin, end).
  LLVM::LLVMFuncOp emit(StringRef name, const Nest &nest);
  /// What the last emission found out.
  Findings findings;

private:
  void bindArguments(LoopEmitter &emit, Block *entry);
  Index openNest(LoopEmitter &emit, Block *entry, const Nest &nest);
  void emitOutputs(LoopEmitter &emit, Index flat, Block *entry, int64_t size);

  OpBuilder &builder;
  KernelOp kernel;
  ArrayRef<unsigned> slots; // argument number of each operand
  ArrayRef<ArrayAttr> positions;
};

unsigned pointerCount(ArrayRef<unsigned> slots) {
  unsigned count = 0;
  for (unsigned slot : slots)
    count = std::max(count, slot + 1);
  return count;
}

void KernelBuilder::bindArguments(LoopEmitter &emit, Block *entry) {
  Block &body = kernel.getBody().front();
  for (auto [number, argument] : llvm::enumerate(body.getArguments()))
    emit.bind(argument, entry->getArgument(slots[number]),
              layoutOf(kernel->getOperand(number).getType()));
  Value scalars = entry->getArgument(pointerCount(slots));
  for (auto [number, axes] : llvm::enumerate(positions))
    emit.bindPosition(axes, emit.load(scalars, builder.getI64Type(),
                                      emit.constantIndex(number)));
}

/// Opens the loops: one over the launch range, whose index gives the leading
/// parts as digits, one per remaining part, and those inside blocks.
Index KernelBuilder::openNest(LoopEmitter &emit, Block *entry,
                              const Nest &nest) {
  unsigned pointers = pointerCount(slots);
  Value row = emit.openLoop(entry->getArgument(pointers + 1),
                            entry->getArgument(pointers + 2));
  SmallVector<Part> parts(nest.parts);
  int64_t below = 1;
  for (int64_t number = nest.parallel; number-- > 0;) {
    int64_t trips = nest.trips(number);
    bool top = below * trips == nest.work;
    parts[number].index = {row, below, top ? 0 : trips};
    below *= trips;
  }
  for (unsigned number = nest.parallel; number < parts.size(); ++number)
    parts[number].index = {emit.openLoop(emit.constantInt(0),
                                         emit.constantInt(nest.trips(number)))};
  for (auto [part, block] : llvm::zip_equal(parts, nest.blocks))
    if (block)
      part.index = emit.openBlock(part.index, block, part.size);
  return emit.addSpace(parts);
}

void KernelBuilder::emitOutputs(LoopEmitter &emit, Index flat, Block *entry,
                                int64_t size) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  unsigned inputs = kernel.getInputs().size();
  struct Element {
    Value value;
    Index where;
    unsigned output;
  };
  SmallVector<Element> elements;
  for (auto [number, result] : llvm::enumerate(yield.getValues())) {
    auto type = cast<RankedTensorType>(result.getType());
    int64_t count = type.getNumElements();
    if (count == 0)
      continue;
    Index where = emit.digit(flat, size / count, count);
    Layout layout = layoutOf(kernel->getOperand(inputs + number).getType());
    SmallVector<Index> places =
        emit.delinearize(where, inMemoryOrder(type.getShape(), layout));
    SmallVector<Index> at(places);
    for (auto [place, dim] :
         llvm::zip_equal(places, fullLayout(layout, places.size())))
      at[dim] = place;
    unsigned output = number;
    elements.push_back({emit.element(result, at), where, output});
  }
  for (const Element &element : elements)
    emit.store(
        element.value, entry->getArgument(slots[inputs + element.output]),
        getElementTypeOrSelf(yield.getValues()[element.output]), element.where);
}

LLVM::LLVMFuncOp KernelBuilder::emit(StringRef name, const Nest &nest) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> arguments(pointerCount(slots) + 1, pointer);
  arguments.append(2, builder.getI64Type());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), arguments);
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), name, type,
                                           LLVM::Linkage::Internal);
  for (unsigned number = 0; number + 2 < arguments.size(); ++number)
    function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  Block *entry = function.addEntryBlock(builder);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(entry);
  Location loc = UnknownLoc::get(context);
  auto done = LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(done);
  LoopEmitter emit(builder, loc, entry);
  emit.findings.columnReductions = findings.columnReductions;
  bindArguments(emit, entry);
  Index flat = openNest(emit, entry, nest);
  emitOutputs(emit, flat, entry, flat.modulus);
  findings = emit.findings;
  return function;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Same place, same argument: an output may be written over an input.
SmallVector<unsigned> slotsOf(KernelOp kernel, SmallVector<unsigned> &buffers) {
  SmallVector<unsigned> slots;
  std::map<std::string, unsigned> places;
  for (auto [number, operand] : llvm::enumerate(kernel->getOperands())) {
    auto [it, isNew] = places.try_emplace(placeOf(operand), buffers.size());
    if (isNew)
      buffers.push_back(number);
    slots.push_back(it->second);
  }
  return slots;
}

bool writesOverInput(KernelOp kernel, ArrayRef<unsigned> slots) {
  size_t inputs = kernel.getInputs().size();
  return llvm::any_of(slots.drop_front(inputs), [&](unsigned slot) {
    return llvm::is_contained(slots.take_front(inputs), slot);
  });
}

SmallVector<ArrayAttr> positionsOf(KernelOp kernel) {
  SmallVector<ArrayAttr> result;
  kernel.getBody().walk([&](Operation *op) {
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    if (axes && !llvm::is_contained(result, axes))
      result.push_back(axes);
  });
  return result;
}

std::string bodyKey(KernelOp kernel, ArrayRef<unsigned> slots) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (unsigned slot : slots)
    os << slot << ' ';
  Block &body = kernel.getBody().front();
  for (Type type : kernel->getOperandTypes())
    os << type << ' ';
  llvm::DenseMap<Value, unsigned> numbers;
  for (BlockArgument argument : body.getArguments())
    numbers[argument] = numbers.size(), os << argument.getType() << ' ';
  for (Operation &op : body) {
    os << '\n' << op.getName() << ' ';
    for (Value operand : op.getOperands())
      os << numbers[operand] << ' ';
    for (NamedAttribute attribute : op.getAttrDictionary())
      if (attribute.getName() != "autopar.names")
        os << attribute.getName() << '=' << attribute.getValue() << ' ';
    for (Value result : op.getResults())
      numbers[result] = numbers.size(), os << result.getType() << ' ';
  }
  return text;
}

/// A name that says what the kernel does: its last op and a number.
std::string nameOf(KernelOp kernel, unsigned number) {
  StringRef last = "copy";
  for (Operation &op : kernel.getBody().front().without_terminator())
    last = op.getName().stripDialect();
  return ("kernel_" + Twine(number) + "_" + last).str();
}

/// `void(void *const *buffers, const int64_t *scalars, begin, end)`: loads the
/// pointers and calls the body, whose arguments are known not to alias.
LLVM::LLVMFuncOp emitEntry(OpBuilder &builder, StringRef name,
                           LLVM::LLVMFuncOp body, unsigned buffers) {
  MLIRContext *context = builder.getContext();
  Location loc = body.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, pointer, i64, i64});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                           LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(entry);
  SmallVector<Value> arguments;
  for (unsigned number = 0; number < buffers; ++number) {
    Value address = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, entry->getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, address));
  }
  llvm::append_range(arguments, entry->getArguments().drop_front(1));
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return function;
}

int64_t rowCount(TopKOp op) {
  return cast<ShapedType>(op.getResult().getType()).getDimSize(op.getDim());
}

/// Refuses an op that the CPU has no loops for, at least not at this size.
LogicalResult verifyLoops(Operation *op) {
  if (!hasLoops(op))
    return op->emitOpError("has no loops on the CPU inside a kernel");
  if (auto topK = dyn_cast<TopKOp>(op); topK && rowCount(topK) > kMaxStackRow)
    return topK.emitOpError("of node '")
           << nodeName(op->getLoc()) << "' keeps " << rowCount(topK)
           << " elements of a row, more than the " << kMaxStackRow
           << " that fit on the stack; ask the model for a smaller k";
  return success();
}

LogicalResult verifyBody(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    return failed(verifyLoops(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace

FailureOr<LoopKernel> KernelFunctions::get(KernelOp kernel) {
  LoopKernel result;
  SmallVector<unsigned> slots = slotsOf(kernel, result.buffers);
  auto [it, isNew] = known.try_emplace(bodyKey(kernel, slots));
  if (!isNew) {
    result.function = it->second.function;
    result.work = it->second.work;
    result.grain = it->second.grain;
    result.positions = positionsOf(kernel);
    return result;
  }
  if (failed(verifyBody(kernel)))
    return failure();
  result.positions = positionsOf(kernel);
  int64_t space = spaceOf(kernel);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string name = nameOf(kernel, known.size() - 1);
  KernelBuilder emission(builder, kernel, slots, result.positions);
  emission.emit(name + "_trial", flatNest(space)).erase();
  if (writesOverInput(kernel, slots))
    emission.findings.crossStride = 0;
  Nest nest = nestOf(kernel, emission.findings);
  LLVM::LLVMFuncOp body = emission.emit(name + "_body", nest);
  result.function = emitEntry(builder, name, body, result.buffers.size());
  result.work = nest.work;
  int64_t each = std::max<int64_t>(1, nest.inner * costOf(kernel, space));
  result.grain = std::max<int64_t>(1, kElementsPerPiece * 4 / each);
  it->second = result;
  return result;
}

} // namespace autopar::cpu
