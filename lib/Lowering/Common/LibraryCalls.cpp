//===- LibraryCalls.cpp - Kernels that a library computes -----------------===//

#include "LibraryCalls.h"
#include "HostProgram.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/runtime.h"

using namespace mlir;

namespace autopar {

namespace {

void append(std::vector<int64_t> &words, ArrayRef<int64_t> values, size_t size,
            int64_t fill) {
  for (size_t i = 0; i < size; ++i)
    words.push_back(i < values.size() ? values[i] : fill);
}

/// Whether every operand is row-major.
bool isRowMajor(KernelOp kernel) {
  return llvm::all_of(kernel->getOperands(), [](Value operand) {
    auto type = cast<ShapedType>(operand.getType());
    return sameMemory(type.getShape(), layoutOf(type), {});
  });
}

/// Words of both descriptors: what is there of the epilogue.
void appendEpilogue(std::vector<int64_t> &words, LibraryCallAttr call) {
  words.push_back(call.getBias() >= 0);
  words.push_back(call.getAddend() >= 0);
  words.push_back(static_cast<int64_t>(call.getActivation()));
}

FailureOr<LibraryCall> gemmCall(KernelOp kernel, EinsumOp op) {
  if (!isRowMajor(kernel))
    return kernel.emitOpError("is a GEMM whose operands are not row-major; "
                              "assign-layouts must leave them so");
  std::optional<EinsumAsGemm> gemm = einsumAsGemm(op); // verified
  LibraryCall call;
  std::vector<int64_t> &words = call.descriptor;
  words.push_back(dtypeNumber(op.getType().getElementType()));
  words.push_back(gemm->batch.size());
  append(words, gemm->batch, APRT_GEMM_MAX_BATCH, 0);
  llvm::append_range(words, ArrayRef<int64_t>{gemm->m, gemm->n, gemm->k});
  append(words, gemm->aStrides, APRT_GEMM_MAX_BATCH + 2, 0);
  append(words, gemm->bStrides, APRT_GEMM_MAX_BATCH + 2, 0);
  append(words, gemm->cStrides, APRT_GEMM_MAX_BATCH + 2, 0);
  appendEpilogue(words, *kernel.getLibrary());
  call.slotWord = words.size();
  words.push_back(-1);
  return call;
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
  size_t spatial = op.getStrides().size();
  LibraryCall call;
  ArrayRef<int64_t> in = shapeOf(op.getInput()),
                    filter = shapeOf(op.getFilter());
  ArrayRef<int64_t> out = shapeOf(op.getResult());
  std::vector<int64_t> &words = call.descriptor;
  words.push_back(dtypeNumber(op.getType().getElementType()));
  words.push_back(spatial);
  llvm::append_range(words,
                     ArrayRef<int64_t>{in[0], in[1], out[1],
                                       static_cast<int64_t>(op.getGroups())});
  append(words, in.drop_front(2), APRT_CONV_MAX_SPATIAL, 1);
  append(words, filter.drop_front(2), APRT_CONV_MAX_SPATIAL, 1);
  append(words, out.drop_front(2), APRT_CONV_MAX_SPATIAL, 1);
  append(words, op.getStrides(), APRT_CONV_MAX_SPATIAL, 1);
  append(words, op.getDilations(), APRT_CONV_MAX_SPATIAL, 1);
  append(words, op.getPadLow(), APRT_CONV_MAX_SPATIAL, 0);
  append(words, op.getPadHigh(), APRT_CONV_MAX_SPATIAL, 0);
  appendEpilogue(words, *kernel.getLibrary());
  call.slotWord = words.size();
  llvm::append_range(words, ArrayRef<int64_t>{-1, *last});
  return call;
}

} // namespace

static_assert(sizeof(aprt_gemm_desc) / sizeof(int64_t) ==
              2 + APRT_GEMM_MAX_BATCH + 3 + 3 * (APRT_GEMM_MAX_BATCH + 2) + 4);
static_assert(sizeof(aprt_conv_desc) / sizeof(int64_t) ==
              6 + 7 * APRT_CONV_MAX_SPATIAL + 5);

static_assert(int(Activation::None) == APRT_ACT_NONE &&
              int(Activation::Relu) == APRT_ACT_RELU &&
              int(Activation::GeluErf) == APRT_ACT_GELU_ERF &&
              int(Activation::GeluTanh) == APRT_ACT_GELU_TANH &&
              int(Activation::Tanh) == APRT_ACT_TANH &&
              int(Activation::Sigmoid) == APRT_ACT_SIGMOID &&
              int(Activation::Silu) == APRT_ACT_SILU);

FailureOr<LibraryCall> describeLibraryCall(KernelOp kernel) {
  Operation *root = libraryRootOf(kernel.getBody().front());
  if (auto einsum = dyn_cast<EinsumOp>(root))
    return gemmCall(kernel, einsum);
  return convCall(kernel, cast<ConvolutionOp>(root));
}

} // namespace autopar
