//===- CudaConv.cpp - Convolutions of one rank on a GPU -------------------===//

#include "CudaConv.h"

#include "../core/DataType.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime {

CudaConv::~CudaConv() {
  if (!context.isIdle())
    return;
  for (PackedFilter &filter : packed)
    (void)context.release(filter.data);
}

std::string CudaConv::hostText() const {
  if (context.options.planCache.empty()) // the library may be absent
    return "";
  return context.description() + ", cuDNN " +
         std::to_string(library.cudnnGetVersion()) + " for CUDA " +
         std::to_string(library.cudnnGetCudartVersion());
}

/// The handle puts its work on the stream of the current op.
Status CudaConv::useStream() {
  if (!handle) {
    cudnnHandle_t made = nullptr;
    APRT_CUDNN(library, cudnnCreate, &made);
    handle = {made, {library.cudnnDestroy}};
  } else if (stream == context.currentStream()) {
    return Status::success();
  }
  APRT_CUDNN(library, cudnnSetStream, handle.get(), context.currentStream());
  stream = context.currentStream();
  return Status::success();
}

/// The largest power of two, up to what the library asks about, that divides
/// an address.
static int64_t alignmentOf(const void *address, int64_t offset) {
  constexpr uint64_t most = 16;
  uint64_t bits =
      (reinterpret_cast<uintptr_t>(address) + uint64_t(offset)) | most;
  return int64_t(bits & -bits);
}

static Status packedElsewhere(int64_t slot) {
  return Status::error("packed weight " + std::to_string(slot) +
                       " was packed for another convolution, or not at all");
}

Status CudaConv::run(const aprt_conv_desc &described,
                     const ConvOperands &given) {
  APRT_TRY(checkConv(described, packed.size()));
  if (described.filter_gradient)
    return Status::error("a GPU computes the gradient of a filter as a "
                         "convolution of transposed images");
  aprt_conv_desc desc = canonicalConv(described);
  ConvOperands operands = given;
  if (desc.slot >= 0) {
    const PackedFilter &filter = packed[desc.slot];
    if (!filter.data || !WordKeyEqual()(filter.desc, desc))
      return packedElsewhere(desc.slot);
    operands.w = filter.data;
  }
  if (countOutputs(desc) == 0)
    return Status::success();
  if (countWeights(desc) == 0)
    return runEmptySum(desc, operands);
  APRT_TRY(useStream());
  CudnnConvShape shape;
  APRT_TRY(CudnnConvShape::make(desc, shape));
  int64_t xOffset = shape.xOffset * elementBytes(desc.dtype);
  Key key{desc,
          {alignmentOf(operands.x, xOffset), alignmentOf(operands.w, 0),
           alignmentOf(operands.bias, 0), alignmentOf(operands.addend, 0),
           alignmentOf(operands.y, 0)}};
  Plan &plan = plans[key];
  if (!plan) {
    Plan made = std::make_unique<CudaConvPlan>(library, cache, desc);
    APRT_TRY(made->create(handle.get(), context.tf32, desc.slot >= 0,
                          key.alignments));
    APRT_TRY(context.reserveWorkspace(made->workspaceBytes()));
    plan = std::move(made);
  }
  return plan->run(handle.get(), context, operands);
}

/// The library has no sums of nothing: a window of one zero is the same.
Status CudaConv::runEmptySum(const aprt_conv_desc &desc,
                             ConvOperands operands) {
  aprt_conv_desc one = desc;
  one.c = one.groups = 1;
  one.slot = -1;
  for (int64_t d = 0; d < desc.spatial_rank; ++d) {
    one.in[d] = one.out[d];
    one.window[d] = one.strides[d] = one.dilations[d] = 1;
    one.pad_low[d] = one.pad_high[d] = 0;
  }
  APRT_TRY(context.reserveZeros(std::max(countInputs(one), countWeights(one)) *
                                elementBytes(desc.dtype)));
  operands.x = operands.w = context.zeros();
  return run(one, operands);
}

Status CudaConv::pack(const aprt_conv_desc &described, const void *w) {
  APRT_TRY(checkConv(described, packed.size()));
  if (described.slot < 0)
    return Status::error("a weight to pack names no slot");
  aprt_conv_desc desc = canonicalConv(described);
  PackedFilter &filter = packed[desc.slot];
  APRT_TRY(context.release(filter.data));
  filter = PackedFilter();
  CudnnConvShape shape;
  APRT_TRY(CudnnConvShape::make(desc, shape));
  int64_t bytes = countWeights(desc) * elementBytes(desc.dtype);
  APRT_TRY(context.allocate(bytes, "a packed weight", context.memory.packed,
                            filter.data));
  filter.desc = desc;
  if (bytes == 0)
    return Status::success();
  if (!shape.movesFilter()) {
    APRT_CUDA(context.driver, cuMemcpyDtoDAsync_v2, deviceAddress(filter.data),
              deviceAddress(w), size_t(bytes), context.currentStream());
    return Status::success();
  }
  APRT_TRY(useStream());
  CudnnTransform move(library);
  APRT_TRY(move.create(shape.type, shape.filter.sizes, shape.filter.strides,
                       shape.wantedFilter.strides));
  return move.run(handle.get(), w, filter.data);
}

Status CudaConv::mergePacked(const Device::MergeBytes &merge) {
  for (PackedFilter &filter : packed)
    if (filter.data)
      APRT_TRY(
          merge(countWeights(filter.desc) * elementBytes(filter.desc.dtype),
                filter.data));
  return Status::success();
}

} // namespace autopar::runtime
