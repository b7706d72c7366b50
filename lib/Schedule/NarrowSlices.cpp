//===- NarrowSlices.cpp - Kernels read and write parts of values ----------===//

#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Schedule/Names.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_NARROWSLICES
#include "autopar/Schedule/Passes.h.inc"

namespace {

/// A join of fewer operands stays one kernel.
constexpr unsigned kLeastJoined = 16;

/// A row-major buffer of which parts may be addressed, or null: a GPU's loads
/// rely on where its parameters begin.
BufferOp divisibleBuffer(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  if (!buffer || !llvm::is_sorted(layoutOf(memref.getType())))
    return {};
  bool isArena = buffer.getSpace() == BufferSpace::Arena;
  return isArena || isHeldInput(buffer) ? buffer : BufferOp();
}

/// The part of a buffer that begins at its element `first`, whatever the
/// buffer's own shape is.
Value partOf(OpBuilder &builder, BufferOp whole, int64_t first,
             ArrayRef<int64_t> shape) {
  auto type = MemRefType::get(
      shape, getElementTypeOrSelf(whole.getType()),
      StridedLayoutAttr::get(builder.getContext(),
                             elementOffset(whole.getType()) + first,
                             computeSuffixProduct(shape)));
  auto part = BufferOp::create(builder, whole.getLoc(), type, whole.getSpace(),
                               whole.getPosition());
  part->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
  return part;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The only reader of a body's argument, if it reads a run of its elements,
/// which begins at `first`.
Operation *soleReader(BlockArgument argument, int64_t &first) {
  if (!argument.hasOneUse())
    return nullptr;
  auto reader = dyn_cast<KernelOpInterface>(*argument.user_begin());
  std::optional<int64_t> run = reader ? reader.getReadRun() : std::nullopt;
  if (!run)
    return nullptr;
  first = *run;
  return reader;
}

/// Operands that share memory with another one stay as they are.
bool isAlone(KernelOp kernel, BufferOp buffer) {
  return llvm::count_if(kernel->getOperands(), [&](Value operand) {
           auto other = operand.getDefiningOp<BufferOp>();
           return other && other.getSpace() == buffer.getSpace() &&
                  other.getPosition() == buffer.getPosition();
         }) == 1;
}

void narrowInputs(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  OpBuilder builder(kernel);
  for (BlockArgument argument : body.getArguments()) {
    OpOperand &operand = kernel->getOpOperand(argument.getArgNumber());
    BufferOp buffer = divisibleBuffer(operand.get());
    int64_t first = 0;
    Operation *reader = buffer ? soleReader(argument, first) : nullptr;
    if (!reader || !isAlone(kernel, buffer))
      continue;
    auto part = cast<RankedTensorType>(reader->getResult(0).getType());
    operand.set(partOf(builder, buffer, first, part.getShape()));
    reader->getResult(0).replaceAllUsesWith(argument);
    reader->erase();
    argument.setType(part);
  }
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

/// The op that joins many operands and is all that a kernel does, if each of
/// them is an input. Views move nothing.
Operation *soleJoin(KernelOp kernel) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  if (kernel.getOutputs().size() != 1 || yield.getValues().size() != 1)
    return nullptr;
  auto join =
      storageOf(yield.getValues().front()).getDefiningOp<KernelOpInterface>();
  if (!join || !join.joinsOperands() || join->getNumOperands() < kLeastJoined)
    return nullptr;
  bool plain = llvm::all_of(join->getOperands(), [](Value input) {
    return isa<BlockArgument>(storageOf(input));
  });
  return plain ? join.getOperation() : nullptr;
}

void addCopy(OpBuilder &builder, KernelOp kernel, Value from, Value to) {
  auto copy = KernelOp::create(builder, kernel.getLoc(), TypeRange(), from, to,
                               LibraryCallAttr());
  copy->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  copy->removeAttr(schedule::kInPlace);
  auto type = cast<MemRefType>(from.getType());
  Block &body = copy.getBody().emplaceBlock();
  body.addArgument(
      RankedTensorType::get(type.getShape(), type.getElementType()),
      from.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inside, kernel.getLoc(), body.getArguments());
}

/// Whether no input is stored under the output or in another order.
bool copiesApart(KernelOp kernel, BufferOp output) {
  if (!output || !isAlone(kernel, output))
    return false;
  return llvm::all_of(kernel.getInputs(), [](Value input) {
    return llvm::is_sorted(layoutOf(input.getType()));
  });
}

bool splitJoin(KernelOp kernel) {
  Operation *join = soleJoin(kernel);
  BufferOp output =
      join ? divisibleBuffer(kernel.getOutputs().front()) : BufferOp();
  if (!copiesApart(kernel, output))
    return false;
  OpBuilder builder(kernel);
  int64_t first = 0; // of the output's elements
  for (Value input : join->getOperands()) {
    auto argument = cast<BlockArgument>(storageOf(input));
    Value from = kernel.getInputs()[argument.getArgNumber()];
    auto type = cast<MemRefType>(from.getType());
    addCopy(builder, kernel, from,
            partOf(builder, output, first, type.getShape()));
    first += type.getNumElements();
  }
  kernel.erase();
  return true;
}

void narrowSlices(func::FuncOp function) {
  SmallVector<KernelOp> kernels(function.getOps<KernelOp>());
  for (KernelOp kernel : kernels)
    if (!kernel.getLibrary() && !splitJoin(kernel))
      narrowInputs(kernel);
}

struct NarrowSlices : impl::NarrowSlicesBase<NarrowSlices> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        narrowSlices(function);
  }
};

} // namespace
} // namespace autopar
