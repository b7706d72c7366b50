//===- LibraryCalls.cpp - Kernels that a library computes -----------------===//

#include "LibraryCalls.h"
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

/// Fills the fields that both descriptors have: type and epilogue, without a
/// packed weight.
template <typename T> T describe(Value result, LibraryCallAttr call) {
  T desc = {};
  desc.dtype = dtypeOf(getElementTypeOrSelf(result.getType()));
  desc.bias = call.getBias() >= 0;
  desc.addend = call.getAddend() >= 0;
  desc.activation = activationOf(call.getActivation());
  desc.slot = -1;
  return desc;
}

LibraryCall gemmCall(KernelOp kernel, EinsumOp op) {
  std::optional<EinsumAsGemm> gemm = gemmOf(kernel); // verified
  auto desc = describe<aprt_gemm_desc>(op, *kernel.getLibrary());
  desc.batch_rank = gemm->batch.size();
  fill(desc.batch, gemm->batch, 0);
  desc.m = gemm->m;
  desc.n = gemm->n;
  desc.k = gemm->k;
  fill(desc.a_strides, gemm->aStrides, 0);
  fill(desc.b_strides, gemm->bStrides, 0);
  fill(desc.c_strides, gemm->cStrides, 0);
  return desc;
}

LibraryCall convCall(LibraryCallAttr call, ConvolutionOp op) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()),
                    filter = shapeOf(op.getFilter()),
                    out = shapeOf(op.getResult());
  auto desc = describe<aprt_conv_desc>(op, call);
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
  desc.channels_last = call.getChannelsLast();
  return desc;
}

/// Describes the convolution whose filter's gradient it is: strides and
/// dilations are exchanged back.
LibraryCall filterGradientCall(LibraryCallAttr call, ConvolutionOp op,
                               FilterGradient filter) {
  ArrayRef<int64_t> images = shapeOf(filter.images.getInput()),
                    gradient = shapeOf(filter.gradient.getInput()),
                    window = shapeOf(op.getResult());
  auto desc = describe<aprt_conv_desc>(op, call);
  desc.spatial_rank = op.getStrides().size();
  desc.n = images[0];
  desc.c = images[1];
  desc.o = gradient[1];
  desc.groups = 1;
  fill(desc.in, images.drop_front(2), 1);
  fill(desc.window, window.drop_front(2), 1);
  fill(desc.out, gradient.drop_front(2), 1);
  fill(desc.strides, op.getDilations(), 1);
  fill(desc.dilations, op.getStrides(), 1);
  fill(desc.pad_low, op.getPadLow(), 0);
  for (int64_t d = 0; d < desc.spatial_rank; ++d) // as much as is read
    desc.pad_high[d] = (desc.out[d] - 1) * desc.strides[d] +
                       (desc.window[d] - 1) * desc.dilations[d] + 1 -
                       desc.in[d] - desc.pad_low[d];
  desc.channels_last = call.getChannelsLast();
  desc.filter_gradient = 1;
  return desc;
}

} // namespace

LibraryCall describeLibraryCall(KernelOp kernel) {
  LibraryCallAttr call = *kernel.getLibrary();
  Operation *root = libraryRootOf(kernel.getBody().front());
  if (auto einsum = dyn_cast<EinsumOp>(root))
    return gemmCall(kernel, einsum);
  auto convolution = cast<ConvolutionOp>(root);
  if (std::optional<FilterGradient> filter = filterGradientOf(root))
    return filterGradientCall(call, convolution, *filter);
  return convCall(call, convolution);
}

} // namespace autopar
