//===- NarrowSlices.cpp - Kernels that read and write parts of values
//---------===//

#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Schedule/HeldInputs.h"
#include "autopar/Schedule/Names.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_NARROWSLICES
#include "autopar/Schedule/Passes.h.inc"

namespace {

/// A concat of fewer operands stays one kernel.
constexpr unsigned kLongConcat = 16;

/// A row-major buffer of which parts may be addressed, or null: a GPU's loads
/// rely on where its parameters begin.
BufferOp divisibleBuffer(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  if (!buffer || !llvm::is_sorted(layoutOf(memref.getType())))
    return {};
  bool isArena = buffer.getSpace() == BufferSpace::Arena;
  return isArena || isHeldInput(buffer) ? buffer : BufferOp();
}

/// First element of `part` within row-major `whole`, or none if the part, which
/// begins at `starts`, is not one piece: ones, then any, then whole dimensions.
std::optional<int64_t> pieceOffset(ArrayRef<int64_t> whole,
                                   ArrayRef<int64_t> part,
                                   ArrayRef<int64_t> starts) {
  int64_t offset = 0;
  bool began = false;
  for (size_t i = 0; i < whole.size(); ++i) {
    offset = offset * whole[i] + starts[i];
    if (began && part[i] != whole[i])
      return std::nullopt;
    began |= part[i] != 1;
  }
  return offset;
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

/// The only reader of a body's argument, if it slices one piece out of it.
SliceOp soleSlice(BlockArgument argument, int64_t &offset) {
  if (!argument.hasOneUse())
    return {};
  auto slice = dyn_cast<SliceOp>(*argument.user_begin());
  if (!slice ||
      llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
    return {};
  std::optional<int64_t> piece =
      pieceOffset(shapeOf(argument), shapeOf(slice), slice.getStarts());
  if (!piece)
    return {};
  offset = *piece;
  return slice;
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
    int64_t offset = 0;
    SliceOp slice = buffer ? soleSlice(argument, offset) : SliceOp();
    if (!slice || !isAlone(kernel, buffer))
      continue;
    auto part = cast<RankedTensorType>(slice.getType());
    operand.set(partOf(builder, buffer, offset, part.getShape()));
    slice.getResult().replaceAllUsesWith(argument);
    slice.erase();
    argument.setType(part);
  }
}

//===----------------------------------------------------------------------===//
// Concats
//===----------------------------------------------------------------------===//

/// Through reshapes, which move nothing.
Value origin(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The long concat that is all a kernel does, if its operands are inputs and
/// each is one piece of the output.
ConcatOp soleConcat(KernelOp kernel) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  if (kernel.getOutputs().size() != 1 || yield.getValues().size() != 1)
    return {};
  auto concat = origin(yield.getValues().front()).getDefiningOp<ConcatOp>();
  if (!concat || concat.getInputs().size() < kLongConcat)
    return {};
  ArrayRef<int64_t> shape = concat.getType().getShape();
  bool rows = llvm::all_of(shape.take_front(concat.getDim()),
                           [](int64_t size) { return size == 1; });
  bool plain = llvm::all_of(concat.getInputs(), [](Value input) {
    return isa<BlockArgument>(origin(input));
  });
  return rows && plain ? concat : ConcatOp();
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

bool splitConcat(KernelOp kernel) {
  ConcatOp concat = soleConcat(kernel);
  BufferOp output =
      concat ? divisibleBuffer(kernel.getOutputs().front()) : BufferOp();
  if (!copiesApart(kernel, output))
    return false;
  OpBuilder builder(kernel);
  int64_t first = 0; // of the output's elements
  for (Value input : concat.getInputs()) {
    auto argument = cast<BlockArgument>(origin(input));
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
    if (!kernel.getLibrary() && !splitConcat(kernel))
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
