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
#include "../Common/RuntimeAbi.h"
#include "../Loops/KernelBody.h"
#include "KernelNest.h"

using namespace mlir;

namespace autopar::cpu {

using namespace loops;

namespace {

/// Iterations of one launch piece are worth about this many elements.
constexpr int64_t kElementsPerPiece = 8192;
/// An emission of a kernel's body.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, KernelOp kernel, ArrayRef<unsigned> slots,
                ArrayRef<ArrayAttr> positions, ConstantTables &tables)
      : builder(builder), kernel(kernel), slots(slots), positions(positions),
        tables(tables) {}

  /// The function with arguments (buffers..., scalars, begin, end).
  LLVM::LLVMFuncOp emit(StringRef name, const Nest &nest);
  /// The facts that the last emission found out.
  Findings findings;

private:
  void bindArguments(LoopEmitter &emit, Block *entry);
  Index openNest(LoopEmitter &emit, Block *entry, const Nest &nest);

  OpBuilder &builder;
  KernelOp kernel;
  ArrayRef<unsigned> slots; // argument number of each operand
  ArrayRef<ArrayAttr> positions;
  ConstantTables &tables;
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
  StackEmitter emit(builder, loc, entry, tables);
  emit.findings.columnReductions = findings.columnReductions;
  emit.findings.scatters = findings.scatters;
  bindArguments(emit, entry);
  Index flat = openNest(emit, entry, nest);
  storeOutputs(emit, kernel, slots, entry->getArguments(),
               evaluateOutputs(emit, kernel, flat, flat.modulus));
  findings = emit.findings;
  return function;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// An aprt_kernel that loads the pointers and calls the body, whose arguments
/// are known not to alias. It is not worth LLVM's time.
LLVM::LLVMFuncOp emitEntry(OpBuilder &builder, StringRef name,
                           LLVM::LLVMFuncOp body, unsigned buffers) {
  MLIRContext *context = builder.getContext();
  Location loc = body.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name, abi::llvmType(context, aprt_kernel()),
      LLVM::Linkage::Internal);
  function.setOptimizeNone(true);
  function.setNoInline(true);
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

/// Refuses lists of the best that the stack cannot hold.
LogicalResult verifyRows(KernelOp kernel) {
  for (TopKOp topK : kernel.getBody().getOps<TopKOp>())
    if (int64_t count = rowCount(topK); count > kMaxStackRow)
      return topK.emitOpError("of node '")
             << nodeName(topK.getLoc()) << "' keeps " << count
             << " elements of a row, more than the " << kMaxStackRow
             << " that fit on the stack; ask the model for a smaller k";
  return success();
}

} // namespace

FailureOr<LoopKernel> KernelFunctions::get(KernelOp kernel) {
  LoopKernel result;
  KernelSlots arguments(kernel);
  result.buffers = arguments.buffers;
  result.positions = arguments.positions;
  auto [it, isNew] = known.try_emplace(bodyKey(kernel, arguments.slots));
  if (!isNew) {
    result.function = it->second.function;
    result.work = it->second.work;
    result.grain = it->second.grain;
    return result;
  }
  if (failed(verifyBody(kernel)) || failed(verifyRows(kernel)))
    return failure();
  int64_t space = spaceOf(kernel);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string name = nameOf(kernel, known.size() - 1);
  KernelBuilder emission(builder, kernel, arguments.slots, result.positions,
                         tables);
  emission.emit(name + "_trial", flatNest(space)).erase();
  if (loops::isInPlace(kernel))
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
