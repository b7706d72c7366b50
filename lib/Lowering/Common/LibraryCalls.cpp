//===- LibraryCalls.cpp - Kernels that a library computes -----------------===//

#include "LibraryCalls.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

namespace {

/// The array's first words; those past `values` become `fill`.
template <size_t size>
void fill(int64_t (&words)[size], ArrayRef<int64_t> values, int64_t rest) {
  for (size_t i = 0; i < size; ++i)
    words[i] = i < values.size() ? values[i] : rest;
}

/// Whether every operand is row-major.
bool isRowMajor(KernelOp kernel) {
  return llvm::all_of(kernel->getOperands(), [](Value operand) {
    auto type = cast<ShapedType>(operand.getType());
    return sameMemory(type.getShape(), layoutOf(type), {});
  });
}

aprt_activation activationOf(Activation activation) {
  switch (activation) {
  case Activation::None:
    return APRT_ACT_NONE;
  case Activation::Relu:
    return APRT_ACT_RELU;
  case Activation::GeluErf:
    return APRT_ACT_GELU_ERF;
  case Activation::GeluTanh:
    return APRT_ACT_GELU_TANH;
  case Activation::Tanh:
    return APRT_ACT_TANH;
  case Activation::Sigmoid:
    return APRT_ACT_SIGMOID;
  case Activation::Silu:
    return APRT_ACT_SILU;
  }
  llvm_unreachable("all functions are above");
}

/// What both descriptors have: type, epilogue, no packed weight.
template <typename T> T describe(Value result, LibraryCallAttr call) {
  T desc = {};
  desc.dtype = dtypeOf(getElementTypeOrSelf(result.getType()));
  desc.bias = call.getBias() >= 0;
  desc.addend = call.getAddend() >= 0;
  desc.activation = activationOf(call.getActivation());
  desc.slot = -1;
  return desc;
}

FailureOr<LibraryCall> gemmCall(KernelOp kernel, EinsumOp op) {
  if (!isRowMajor(kernel))
    return kernel.emitOpError("is a GEMM whose operands are not row-major; "
                              "assign-layouts must leave them so");
  std::optional<EinsumAsGemm> gemm = einsumAsGemm(op); // verified
  auto desc = describe<aprt_gemm_desc>(op, *kernel.getLibrary());
  desc.batch_rank = gemm->batch.size();
  fill(desc.batch, gemm->batch, 0);
  desc.m = gemm->m;
  desc.n = gemm->n;
  desc.k = gemm->k;
  fill(desc.a_strides, gemm->aStrides, 0);
  fill(desc.b_strides, gemm->bStrides, 0);
  fill(desc.c_strides, gemm->cStrides, 0);
  return LibraryCall(desc);
}

/// The layout of `value`, which reshapes make of an argument of the kernel.
std::optional<Layout> layoutInside(KernelOp kernel, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return layoutOf(kernel.getInputs()[argument.getArgNumber()].getType());
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  std::optional<Layout> under = layoutInside(kernel, reshape.getInput());
  if (!under)
    return std::nullopt;
  return carryLayout(reshape, reshape.getInput(), *under, value);
}

/// Whether `value` is a bias as the result's shape has it.
bool spreadsBias(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value.getDefiningOp<BroadcastOp>() != nullptr;
}

/// Whether what the kernel reads and writes in memory is stored as it is if the
/// library reads its image and writes its result in channels-last order, or
/// row-major. Epilogues take the result on through reshapes, which name the
/// same memory by other dimensions.
bool hasImages(KernelOp kernel, ConvolutionOp op, bool channelsAreLast) {
  auto orderOf = [&](Value image) {
    return channelsAreLast ? channelsLast(shapeOf(image).size()) : Layout();
  };
  auto isStored = [&](Value value, ArrayRef<int64_t> layout) {
    std::optional<Layout> stored = layoutInside(kernel, value);
    return stored && sameMemory(shapeOf(value), *stored, layout);
  };
  if (!isStored(op.getInput(), orderOf(op.getInput())))
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
      if (!results.contains(operand) && !spreadsBias(operand) &&
          !isStored(operand, *layout))
        return false;
    results[next.getResult(0)] = *layout;
  }
  Value end = kernel.getBody().front().getTerminator()->getOperand(0);
  return sameMemory(shapeOf(end), results[end],
                    layoutOf(kernel.getOutputs()[0].getType()));
}

/// Whether image, addend and result have channels last or are row-major;
/// nullopt if neither.
std::optional<bool> isChannelsLast(KernelOp kernel, ConvolutionOp op) {
  std::optional<Layout> ofFilter = layoutInside(kernel, op.getFilter());
  if (!ofFilter || !sameMemory(shapeOf(op.getFilter()), *ofFilter, {}))
    return std::nullopt;
  for (bool last : {false, true})
    if (hasImages(kernel, op, last))
      return last;
  return std::nullopt;
}

FailureOr<LibraryCall> convCall(KernelOp kernel, ConvolutionOp op) {
  std::optional<bool> last = isChannelsLast(kernel, op);
  if (!last)
    return kernel.emitOpError(
        "is a convolution whose images are neither all row-major nor all with "
        "channels last, or whose filter is not row-major; assign-layouts must "
        "leave them so");
  ArrayRef<int64_t> in = shapeOf(op.getInput()),
                    filter = shapeOf(op.getFilter()),
                    out = shapeOf(op.getResult());
  auto desc = describe<aprt_conv_desc>(op, *kernel.getLibrary());
  desc.spatial_rank = op.getStrides().size();
  desc.n = in[0];
  desc.c = in[1];
  desc.o = out[1];
  desc.groups = op.getGroups();
  fill(desc.in, in.drop_front(2), 1);
  fill(desc.window, filter.drop_front(2), 1);
  fill(desc.out, out.drop_front(2), 1);
  fill(desc.strides, op.getStrides(), 1);
  fill(desc.dilations, op.getDilations(), 1);
  fill(desc.pad_low, op.getPadLow(), 0);
  fill(desc.pad_high, op.getPadHigh(), 0);
  desc.channels_last = *last;
  return LibraryCall(desc);
}

} // namespace

FailureOr<LibraryCall> describeLibraryCall(KernelOp kernel) {
  Operation *root = libraryRootOf(kernel.getBody().front());
  if (auto einsum = dyn_cast<EinsumOp>(root))
    return gemmCall(kernel, einsum);
  return convCall(kernel, cast<ConvolutionOp>(root));
}

} // namespace autopar
