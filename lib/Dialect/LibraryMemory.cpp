//===- LibraryMemory.cpp - How the buffers of library calls are stored ----===//

#include "OpHelpers.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar {

using StoredAs = llvm::function_ref<Layout(BlockArgument)>;

/// The layout of `value`, another name of an argument that is stored so:
/// reshapes and transposes make it.
static std::optional<Layout> layoutInside(Value value, StoredAs storedAs) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return storedAs(argument);
  Operation *op = value.getDefiningOp();
  if (!isa<ReshapeOp, TransposeOp>(op))
    return std::nullopt;
  std::optional<Layout> under = layoutInside(op->getOperand(0), storedAs);
  if (!under)
    return std::nullopt;
  return carryLayout(op, op->getOperand(0), *under, value);
}

/// The layout in which the kernel's buffer is stored.
static Layout storedIn(KernelOp kernel, BlockArgument argument) {
  return layoutOf(kernel.getInputs()[argument.getArgNumber()].getType());
}

/// Returns whether `value`, another name of an operand of the kernel, is stored
/// so.
static bool isStored(KernelOp kernel, Value value, ArrayRef<int64_t> layout) {
  std::optional<Layout> stored =
      layoutInside(value, [&](BlockArgument argument) {
        return storedIn(kernel, argument);
      });
  return stored && sameMemory(shapeOf(value), *stored, layout);
}

/// Returns whether the convolution's image, result and addend are stored in the
/// order that the call says. Epilogues take the result on through reshapes,
/// which name the same memory by other dimensions.
static bool hasImages(KernelOp kernel, ConvolutionOp op) {
  auto orderOf = [&](Value image) {
    return kernel.getLibrary()->getChannelsLast()
               ? channelsLast(shapeOf(image).size())
               : Layout();
  };
  if (!isStored(kernel, op.getInput(), orderOf(op.getInput())))
    return false;
  llvm::DenseMap<Value, Layout> results{{op.getResult(), orderOf(op)}};
  for (Operation &next : kernel.getBody().front().without_terminator()) {
    auto from = llvm::find_if(next.getOperands(), [&](Value operand) {
      return results.contains(operand);
    });
    if (from == next.operand_end())
      continue;
    std::optional<Layout> layout = results[*from];
    if (isa<ReshapeOp>(next)) // the others keep the shape
      layout = viewLayout(shapeOf(*from), *layout, shapeOf(next.getResult(0)));
    if (!layout)
      return false;
    for (Value operand : next.getOperands())
      if (!results.contains(operand) &&
          !throughReshapes(operand).getDefiningOp<BroadcastOp>() &&
          !isStored(kernel, operand, *layout))
        return false;
    results[next.getResult(0)] = *layout;
  }
  Value end = kernel.getBody().front().getTerminator()->getOperand(0);
  return sameMemory(shapeOf(end), results[end],
                    layoutOf(kernel.getOutputs()[0].getType()));
}

/// Returns the same for a filter's gradient: its images, the gradient that it
/// reads, and its result, which is row-major once batch and channels are
/// exchanged again.
static bool hasFilterMemory(KernelOp kernel, FilterGradient filter) {
  auto isImage = [&](Value image) {
    return isStored(kernel, image,
                    kernel.getLibrary()->getChannelsLast()
                        ? channelsLast(shapeOf(image).size())
                        : Layout());
  };
  auto type = cast<MemRefType>(kernel.getOutputs()[0].getType());
  return isImage(filter.images.getInput()) &&
         isImage(filter.gradient.getInput()) &&
         sameMemory(type.getShape(), layoutOf(type),
                    batchExchanged(type.getRank()));
}

std::optional<EinsumAsGemm> gemmOf(EinsumOp root, StoredAs storedAs) {
  std::optional<Layout> lhs = layoutInside(root.getLhs(), storedAs),
                        rhs = layoutInside(root.getRhs(), storedAs);
  return lhs && rhs ? einsumAsGemm(root, *lhs, *rhs) : std::nullopt;
}

std::optional<EinsumAsGemm> gemmOf(KernelOp kernel) {
  auto root = cast<EinsumOp>(libraryRootOf(kernel).getOperation());
  return gemmOf(
      root, [&](BlockArgument argument) { return storedIn(kernel, argument); });
}

//===----------------------------------------------------------------------===//
// Packed forms of the ops
//===----------------------------------------------------------------------===//

std::string EinsumOp::describePacking(Operation *kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::optional<EinsumAsGemm> gemm = gemmOf(cast<KernelOp>(kernel)); // verified
  os << gemm->m << ' ' << gemm->n << ' ' << gemm->k;
  for (ArrayRef<int64_t> list :
       {ArrayRef(gemm->batch), ArrayRef(gemm->bStrides)})
    llvm::interleave(list, os << '|', " ");
  return text;
}

LogicalResult EinsumOp::verifyCallMemory(Operation *op) {
  auto kernel = cast<KernelOp>(op);
  if (!gemmOf(kernel))
    return kernel.emitOpError("is a GEMM whose operands are stored so that no "
                              "GEMM reads them");
  ArrayRef<int64_t> matrices = kernel.getLibrary()->getOperands().take_front(
      libraryKind(CallKind::Gemm).required);
  for (auto [number, operand] : llvm::enumerate(kernel->getOperands())) {
    auto type = cast<ShapedType>(operand.getType());
    if (!llvm::is_contained(matrices, int64_t(number)) &&
        !sameMemory(type.getShape(), layoutOf(type), {}))
      return kernel.emitOpError("is a GEMM whose result or epilogue is not "
                                "row-major");
  }
  return success();
}

LogicalResult ConvolutionOp::verifyCallMemory(Operation *op) {
  auto kernel = cast<KernelOp>(op);
  LibraryCallAttr call = *kernel.getLibrary();
  if (call.getKind() == CallKind::FilterGradient) {
    if (hasFilterMemory(kernel, *filterGradientOf(*this)))
      return success();
    return kernel.emitOpError("is the gradient of a filter whose buffers are "
                              "stored otherwise than its call says");
  }
  if (isStored(kernel, getFilter(), {}) && hasImages(kernel, *this))
    return success();
  return kernel.emitOpError()
         << "is a convolution of images "
         << (call.getChannelsLast() ? "with channels last"
                                    : "in row-major order")
         << " and a row-major filter, but its buffers are stored otherwise";
}

} // namespace autopar
