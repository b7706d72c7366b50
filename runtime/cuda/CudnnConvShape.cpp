//===- CudnnConvShape.cpp - Convolutions as cuDNN describes them ----------===//

#include "CudaConvPlan.h"

#include "../core/DataType.h"

#include <algorithm>
#include <numeric>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Copies between layouts
//===----------------------------------------------------------------------===//

Status CudnnTransform::createTensor(cudnnDataType_t type,
                                    const std::vector<int64_t> &sizes,
                                    const std::vector<int64_t> &strides,
                                    Tensor &tensor) const {
  cudnnTensorDescriptor_t made = nullptr;
  APRT_CUDNN(library, cudnnCreateTensorDescriptor, &made);
  tensor = {made, {library.cudnnDestroyTensorDescriptor}};
  std::vector<int> narrowSizes(sizes.begin(), sizes.end());
  std::vector<int> narrowStrides(strides.begin(), strides.end());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (narrowSizes[d] != sizes[d] || narrowStrides[d] != strides[d])
      return Status::error("a tensor is too large for a copy by cuDNN");
  APRT_CUDNN(library, cudnnSetTensorNdDescriptor, made, type, int(sizes.size()),
             narrowSizes.data(), narrowStrides.data());
  return Status::success();
}

Status CudnnTransform::create(cudnnDataType_t type,
                              const std::vector<int64_t> &sizes,
                              const std::vector<int64_t> &from,
                              const std::vector<int64_t> &to) {
  APRT_TRY(createTensor(type, sizes, from, source));
  return createTensor(type, sizes, to, result);
}

Status CudnnTransform::run(cudnnHandle_t handle, const void *from,
                           void *to) const {
  float one = 1, zero = 0;
  APRT_CUDNN(library, cudnnTransformTensor, handle, &one, source.get(), from,
             &zero, result.get(), to);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Strides of [n, c, spatial...] that is row-major, or has channels last.
static std::vector<int64_t> denseStrides(const std::vector<int64_t> &sizes,
                                         bool channelsLast) {
  std::vector<size_t> order(sizes.size()); // outermost first
  std::iota(order.begin(), order.end(), size_t(0));
  if (channelsLast)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(1, sizes[order[i]]);
  }
  return strides;
}

static CudnnImage denseImage(int64_t n, int64_t c,
                             const std::vector<int64_t> &spatial, bool last) {
  CudnnImage image;
  image.sizes = {n, c};
  image.sizes.insert(image.sizes.end(), spatial.begin(), spatial.end());
  image.strides = denseStrides(image.sizes, last);
  return image;
}

static bool dataType(int64_t dtype, cudnnDataType_t &type) {
  switch (dtype) {
  case APRT_F16:
    return type = CUDNN_DATA_HALF, true;
  case APRT_BF16:
    return type = CUDNN_DATA_BFLOAT16, true;
  case APRT_F32:
    return type = CUDNN_DATA_FLOAT, true;
  }
  return false;
}

/// Negative padding is a smaller image.
static void crop(CudnnConvShape &shape) {
  for (size_t d = 0; d < shape.window.padLow.size(); ++d) {
    int64_t &low = shape.window.padLow[d], &high = shape.window.padHigh[d];
    shape.x.sizes[d + 2] += std::min<int64_t>(low, 0);
    shape.x.sizes[d + 2] += std::min<int64_t>(high, 0);
    shape.xOffset += -std::min<int64_t>(low, 0) * shape.x.strides[d + 2];
    low = std::max<int64_t>(low, 0);
    high = std::max<int64_t>(high, 0);
  }
}

Status CudnnConvShape::make(const aprt_conv_desc &desc, CudnnConvShape &shape) {
  if (!dataType(desc.dtype, shape.type))
    return Status::error(std::string("cuDNN has no convolution of ") +
                         dtypeName(desc.dtype));
  // The library has no images of one dimension: they get one of size 1.
  size_t missing = desc.spatial_rank == 1 ? 1 : 0;
  auto spatial = [&](const int64_t *values, int64_t fill) {
    std::vector<int64_t> result(missing, fill);
    result.insert(result.end(), values, values + desc.spatial_rank);
    return result;
  };
  bool last = desc.channels_last != 0;
  std::vector<int64_t> window = spatial(desc.window, 1);
  int64_t inGroup = desc.c / desc.groups;
  shape.x = denseImage(desc.n, desc.c, spatial(desc.in, 1), last);
  shape.y = denseImage(desc.n, desc.o, spatial(desc.out, 1), last);
  shape.filter = denseImage(desc.o, inGroup, window, false);
  shape.wantedFilter = denseImage(desc.o, inGroup, window, last);
  int64_t padHigh[APRT_CONV_MAX_SPATIAL];
  for (int64_t d = 0; d < desc.spatial_rank; ++d)
    padHigh[d] = effectivePadHigh(desc, d);
  shape.window = {spatial(desc.strides, 1), spatial(desc.dilations, 1),
                  spatial(desc.pad_low, 0), spatial(padHigh, 0)};
  crop(shape);
  return Status::success();
}

bool CudnnConvShape::readsNothing() const {
  return *std::min_element(x.sizes.begin(), x.sizes.end()) <= 0;
}

bool CudnnConvShape::movesFilter() const {
  for (size_t d = 0; d < filter.sizes.size(); ++d)
    if (filter.sizes[d] != 1 && filter.strides[d] != wantedFilter.strides[d])
      return true;
  return false;
}

} // namespace autopar::runtime
