//===- ConvShape.cpp - Descriptions of convolutions -----------------------===//

#include "ConvShape.h"

#include "DataType.h"

#include <algorithm>

namespace autopar::runtime {

Status checkConv(const aprt_conv_desc &desc, size_t slots) {
  bool good = elementBytes(desc.dtype) > 0 && desc.spatial_rank >= 1 &&
              desc.spatial_rank <= APRT_CONV_MAX_SPATIAL && desc.n >= 0 &&
              desc.c >= 0 && desc.o >= 0 && desc.groups >= 1 &&
              desc.c % desc.groups == 0 && desc.o % desc.groups == 0 &&
              desc.activation >= APRT_ACT_NONE &&
              desc.activation <= APRT_ACT_SILU;
  for (int64_t d = 0; good && d < desc.spatial_rank; ++d)
    good = desc.in[d] >= 0 && desc.out[d] >= 0 && desc.window[d] >= 0 &&
           desc.strides[d] >= 1 && desc.dilations[d] >= 1;
  if (desc.filter_gradient)
    good &= desc.groups == 1 && !desc.bias && !desc.addend &&
            desc.activation == APRT_ACT_NONE && desc.slot < 0;
  if (!good)
    return Status::error("bad description of a convolution");
  if (desc.slot >= int64_t(slots))
    return Status::error("packed weight " + std::to_string(desc.slot) +
                         " does not exist");
  return Status::success();
}

aprt_conv_desc canonicalConv(const aprt_conv_desc &desc) {
  aprt_conv_desc result = desc;
  for (int64_t *sizes : {result.in, result.window, result.out, result.strides,
                         result.dilations, result.pad_low, result.pad_high})
    std::fill(sizes + desc.spatial_rank, sizes + APRT_CONV_MAX_SPATIAL, 0);
  return result;
}

/// Moves spatial dimension `from` of every list to `to`.
static void moveDim(aprt_conv_desc &desc, int64_t from, int64_t to) {
  for (int64_t *sizes : {desc.in, desc.window, desc.out, desc.strides,
                         desc.dilations, desc.pad_low, desc.pad_high})
    sizes[to] = sizes[from];
}

static void setUnitDim(aprt_conv_desc &desc, int64_t d) {
  for (int64_t *sizes :
       {desc.in, desc.window, desc.out, desc.strides, desc.dilations})
    sizes[d] = 1;
  desc.pad_low[d] = desc.pad_high[d] = 0;
}

aprt_conv_desc imageConv(const aprt_conv_desc &desc) {
  aprt_conv_desc result = desc;
  result.spatial_rank = 0;
  for (int64_t d = 0; d < desc.spatial_rank; ++d) {
    bool unit = desc.in[d] == 1 && desc.window[d] == 1 && desc.out[d] == 1 &&
                desc.pad_low[d] == 0;
    if (!unit)
      moveDim(result, d, result.spatial_rank++);
  }
  while (result.spatial_rank < 2) {
    if (result.spatial_rank == 1)
      moveDim(result, 0, 1);
    setUnitDim(result, 0);
    ++result.spatial_rank;
  }
  return canonicalConv(result);
}

static int64_t product(const aprt_conv_desc &desc, const int64_t *sizes) {
  int64_t count = 1;
  for (int64_t d = 0; d < desc.spatial_rank; ++d)
    count *= sizes[d];
  return count;
}

int64_t countInputs(const aprt_conv_desc &desc) {
  return desc.n * desc.c * product(desc, desc.in);
}

int64_t countWeights(const aprt_conv_desc &desc) {
  return desc.o * (desc.c / desc.groups) * product(desc, desc.window);
}

int64_t countOutputs(const aprt_conv_desc &desc) {
  return desc.n * desc.o * product(desc, desc.out);
}

int64_t effectivePadHigh(const aprt_conv_desc &desc, int64_t d) {
  int64_t reach = (desc.window[d] - 1) * desc.dilations[d] + 1;
  int64_t padded = desc.in[d] + desc.pad_low[d] + desc.pad_high[d];
  if (padded >= reach && (padded - reach) / desc.strides[d] + 1 == desc.out[d])
    return desc.pad_high[d];
  return (desc.out[d] - 1) * desc.strides[d] + reach - desc.in[d] -
         desc.pad_low[d];
}

} // namespace autopar::runtime
