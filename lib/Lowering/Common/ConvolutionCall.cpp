//===- ConvolutionCall.cpp - Descriptors of convolutions ------------------===//

#include "LibraryCalls.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar {

/// Fills what a convolution and the gradient of its filter have in common.
static aprt_conv_desc describe(LibraryCallAttr call, ConvolutionOp op) {
  auto desc = describeEpilogue<aprt_conv_desc>(
      call, op.getResult().getType().getElementType());
  desc.spatial_rank = op.getStrides().size();
  desc.groups = op.getGroups();
  desc.channels_last = call.getChannelsLast();
  fillWords(desc.pad_low, op.getPadLow(), 0);
  return desc;
}

static ConvolutionOp rootOf(KernelOp kernel) {
  return cast<ConvolutionOp>(libraryRootOf(kernel).getOperation());
}

aprt_conv_desc describeConvolution(KernelOp kernel) {
  ConvolutionOp op = rootOf(kernel);
  ArrayRef<int64_t> in = shapeOf(op.getInput()),
                    filter = shapeOf(op.getFilter()),
                    out = shapeOf(op.getResult());
  aprt_conv_desc desc = describe(*kernel.getLibrary(), op);
  desc.n = in[0];
  desc.c = in[1];
  desc.o = out[1];
  fillWords(desc.in, in.drop_front(2), 1);
  fillWords(desc.window, filter.drop_front(2), 1);
  fillWords(desc.out, out.drop_front(2), 1);
  fillWords(desc.strides, op.getStrides(), 1);
  fillWords(desc.dilations, op.getDilations(), 1);
  fillWords(desc.pad_high, op.getPadHigh(), 0);
  return desc;
}

/// Describes the convolution whose filter's gradient it is: strides and
/// dilations are exchanged back.
aprt_conv_desc describeFilterGradient(KernelOp kernel) {
  ConvolutionOp op = rootOf(kernel);
  FilterGradient filter = *filterGradientOf(op); // verified
  ArrayRef<int64_t> images = shapeOf(filter.images.getInput()),
                    gradient = shapeOf(filter.gradient.getInput()),
                    window = shapeOf(op.getResult());
  aprt_conv_desc desc = describe(*kernel.getLibrary(), op);
  desc.n = images[0];
  desc.c = images[1];
  desc.o = gradient[1];
  fillWords(desc.in, images.drop_front(2), 1);
  fillWords(desc.window, window.drop_front(2), 1);
  fillWords(desc.out, gradient.drop_front(2), 1);
  fillWords(desc.strides, op.getDilations(), 1);
  fillWords(desc.dilations, op.getStrides(), 1);
  for (int64_t d = 0; d < desc.spatial_rank; ++d) // as much as is read
    desc.pad_high[d] = (desc.out[d] - 1) * desc.strides[d] +
                       (desc.window[d] - 1) * desc.dilations[d] + 1 -
                       desc.in[d] - desc.pad_low[d];
  desc.filter_gradient = 1;
  return desc;
}

/// "2 images, 8 -> 16 channels"
std::string titleOf(const aprt_conv_desc &desc) {
  return llvm::formatv("{0} images, {1} -> {2} channels", desc.n, desc.c,
                       desc.o);
}

} // namespace autopar
