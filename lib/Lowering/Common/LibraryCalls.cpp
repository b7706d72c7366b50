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

/// The layout of the yielded `value` before the reshapes that end the body.
std::optional<Layout> layoutOfResult(KernelOp kernel, Value &value) {
  Layout layout = layoutOf(kernel.getOutputs()[0].getType());
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    auto under = carryLayout(reshape, value, layout, reshape.getInput());
    if (!under)
      return std::nullopt;
    layout = *under;
    value = reshape.getInput();
  }
  return layout;
}

/// What the epilogue's reshapes make of the addend: an image like the result.
Value addendImage(KernelOp kernel) {
  int64_t number = kernel.getLibrary()->getAddend();
  if (number < 0)
    return nullptr;
  Value value = kernel.getBody().getArgument(number);
  while (auto reshape = dyn_cast<ReshapeOp>(*value.user_begin()))
    value = reshape.getResult();
  return value;
}

/// Whether image, addend and result have channels last or are row-major;
/// nullopt if neither.
std::optional<bool> isChannelsLast(KernelOp kernel, ConvolutionOp op) {
  Value result = kernel.getBody().front().getTerminator()->getOperand(0);
  std::optional<Layout> ofResult = layoutOfResult(kernel, result);
  std::optional<Layout> ofFilter = layoutInside(kernel, op.getFilter());
  if (!ofResult || !ofFilter ||
      !sameMemory(shapeOf(op.getFilter()), *ofFilter, {}))
    return std::nullopt;
  SmallVector<std::pair<Value, Layout>> images{{result, *ofResult}};
  for (Value read : {Value(op.getInput()), addendImage(kernel)})
    if (read) {
      std::optional<Layout> layout = layoutInside(kernel, read);
      if (!layout)
        return std::nullopt;
      images.push_back({read, *layout});
    }
  auto allAre = [&](bool last) {
    return llvm::all_of(images, [&](const auto &image) {
      ArrayRef<int64_t> sizes = shapeOf(image.first);
      return sameMemory(sizes, image.second,
                        last ? channelsLast(sizes.size()) : Layout());
    });
  };
  if (allAre(false))
    return false;
  return allAre(true) ? std::optional(true) : std::nullopt;
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
