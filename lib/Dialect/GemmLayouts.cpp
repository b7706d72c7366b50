//===- GemmLayouts.cpp - How a GEMM reads its operands --------------------===//

#include "autopar/Dialect/GemmLayouts.h"
#include "autopar/Dialect/LibraryCall.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace autopar {

namespace {
/// A way to read an operand.
struct OperandMemory {
  Layout layout;  // of the operand
  unsigned moves; // kernels that move its elements for that
  /// The value that holds the elements, and the transposes and reshapes, the
  /// last one first, that make the operand from it.
  Value source;
  SmallVector<Operation *> views = {};
};
} // namespace

/// The transpose that is all that a kernel of loops does, or null.
static TransposeOp onlyTransposeOf(Operation *op) {
  auto kernel = dyn_cast_if_present<KernelOp>(op);
  if (!kernel || kernel.getLibrary() || kernel.getInputs().size() != 1 ||
      kernel->getNumResults() != 1)
    return nullptr;
  Value yielded = kernel.getBody().front().getTerminator()->getOperand(0);
  auto transpose = yielded.getDefiningOp<TransposeOp>();
  return transpose && isa<BlockArgument>(transpose.getInput()) ? transpose
                                                               : nullptr;
}

bool isTransposing(Operation *op) { return onlyTransposeOf(op) != nullptr; }

/// The memories from which the operand can be read: as it is, row-major, and
/// where an image was before kernels transposed it.
static SmallVector<OperandMemory, 3> memoriesOf(Value value,
                                                LayoutOf layoutOf) {
  OperandMemory asIs{layoutOf(value), 0, value}, before{{}, 0, value};
  for (Operation *op = value.getDefiningOp(); op;
       op = before.source.getDefiningOp()) {
    if (TransposeOp transpose = onlyTransposeOf(op))
      before.views.push_back(transpose);
    else if (isa<ReshapeOp>(op))
      before.views.push_back(op);
    else
      break;
    before.source = op->getOperand(0);
  }
  while (!before.views.empty() && isa<ReshapeOp>(before.views.back()))
    before.source = before.views.pop_back_val()->getResult(0);
  asIs.moves = before.views.empty() ? 0 : 1;
  SmallVector<OperandMemory, 3> memories{asIs};
  if (!asIs.layout.empty())
    memories.push_back({{}, asIs.moves + 1, value}); // a copy
  // For row-major tensors the canonicalizer has absorbed all transposes that it
  // could.
  std::optional<Layout> layout = layoutOf(before.source);
  if (before.views.empty() || layout->empty())
    return memories;
  for (Operation *view : llvm::reverse(before.views))
    if (layout)
      layout =
          carryLayout(view, view->getOperand(0), *layout, view->getResult(0));
  if (layout) {
    before.layout = *layout;
    memories.push_back(std::move(before));
  }
  return memories;
}

/// Makes the kernel read what is under the views, which become part of it.
static void readUnder(OpOperand &operand, const OperandMemory &memory) {
  Block &body = cast<KernelOp>(operand.getOwner()).getBody().front();
  BlockArgument argument = body.getArgument(operand.getOperandNumber());
  OpOperand &use = *argument.use_begin();
  operand.set(memory.source);
  argument.setType(memory.source.getType());
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Value value = argument;
  for (Operation *view : llvm::reverse(memory.views)) {
    IRMapping mapping;
    mapping.map(view->getOperand(0), value);
    value = builder.clone(*view, mapping)->getResult(0);
  }
  use.set(value);
}

/// The library reads matrices by strides. So images stay as they are stored if
/// that is the same GEMM, and images that a kernel only transposes are read
/// from where they were before. All other inputs are row-major.
SmallVector<Layout> EinsumOp::chooseInputLayouts(Operation *op,
                                                 LayoutOf layoutOf) {
  auto kernel = cast<KernelOp>(op);
  Block &body = kernel.getBody().front();
  SmallVector<Layout> wanted(kernel.getInputs().size());
  unsigned a = kernel.getLibrary()->getOperand("a"),
           b = kernel.getLibrary()->getOperand("b");
  if (a == b || !body.getArgument(a).hasOneUse() ||
      !body.getArgument(b).hasOneUse())
    return wanted;
  auto ofA = memoriesOf(kernel.getInputs()[a], layoutOf),
       ofB = memoriesOf(kernel.getInputs()[b], layoutOf);
  const OperandMemory *bestA = nullptr, *bestB = nullptr;
  for (const OperandMemory &one : ofA)
    for (const OperandMemory &other : ofB) {
      bool isBetter =
          !bestA || one.moves + other.moves < bestA->moves + bestB->moves;
      if (isBetter && gemmOf(*this, [&](BlockArgument argument) {
            return argument.getArgNumber() == a ? one.layout : other.layout;
          }))
        std::tie(bestA, bestB) = std::pair(&one, &other);
    }
  if (!bestA) // the verifier of the buffers tells
    return wanted;
  for (auto [number, memory] : {std::pair(a, bestA), std::pair(b, bestB)}) {
    OpOperand &operand = kernel.getInputsMutable()[number];
    if (memory->views.empty()) {
      wanted[number] = memory->layout;
    } else {
      readUnder(operand, *memory);
      wanted[number] = layoutOf(memory->source);
    }
  }
  return wanted;
}

} // namespace autopar
