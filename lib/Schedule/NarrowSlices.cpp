//===- NarrowSlices.cpp - Kernels read and write parts of values ----------===//

#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
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

/// Returns the buffer if it is row-major and parts of it may be addressed;
/// otherwise null. Parts of parameters may not, because a GPU's loads rely on
/// where a parameter begins.
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

/// The only reader of a body's argument, or null.
KernelOpInterface soleReader(BlockArgument argument) {
  return argument.hasOneUse()
             ? dyn_cast<KernelOpInterface>(*argument.user_begin())
             : KernelOpInterface();
}

/// Returns whether no other operand shares the buffer's memory; operands that
/// do stay as they are.
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
    KernelOpInterface reader =
        buffer ? soleReader(argument) : KernelOpInterface();
    if (!reader || !isAlone(kernel, buffer))
      continue;
    auto read = [&](int64_t first, ArrayRef<int64_t> shape) {
      operand.set(partOf(builder, buffer, first, shape));
      auto type = cast<RankedTensorType>(argument.getType());
      argument.setType(type.clone(shape));
    };
    if (std::optional<int64_t> first = reader.getReadRun()) {
      Value part = reader->getResult(0);
      read(*first, shapeOf(part));
      part.replaceAllUsesWith(argument);
      reader->erase();
    } else if (std::optional<ReadBlock> block = readBlockOf(reader)) {
      read(block->first, block->shape);
      readFromBlock(reader);
    }
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
  copy->removeAttr(AutoparDialect::kInPlace);
  auto type = cast<MemRefType>(from.getType());
  Block &body = copy.getBody().emplaceBlock();
  body.addArgument(
      RankedTensorType::get(type.getShape(), type.getElementType()),
      from.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inside, kernel.getLoc(), body.getArguments());
}

/// Returns whether no input is stored under the output or in another order.
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
  int64_t first = 0; // the output's first element of the piece
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
