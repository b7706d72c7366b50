//===- ConvLayouts.cpp - A convolution's tensors in oneDNN ----------------===//

#include "ConvLayouts.h"

#include "../core/ConvShape.h"

#include <algorithm>

namespace autopar::runtime {

int64_t product(const int64_t *sizes, int64_t rank) {
  int64_t result = 1;
  for (int64_t d = 0; d < rank; ++d)
    result *= sizes[d];
  return result;
}

namespace {
/// Layout tags by spatial rank.
constexpr dnnl_format_tag_t plainTags[] = {dnnl_ncw, dnnl_nchw, dnnl_ncdhw};
constexpr dnnl_format_tag_t lastTags[] = {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
constexpr dnnl_format_tag_t weightTags[] = {dnnl_oiw, dnnl_oihw, dnnl_oidhw};
constexpr dnnl_format_tag_t groupedTags[] = {dnnl_goiw, dnnl_goihw,
                                             dnnl_goidhw};
} // namespace

bool ConvLayouts::init(const OneDnn &library, const aprt_conv_desc &desc) {
  dnnl_data_type_t type = oneDnnType(desc.dtype);
  if (type == dnnl_data_type_undef)
    return false;
  int64_t s = desc.spatial_rank;
  auto describe = [&](dnnl_memory_desc_t &layout, const dnnl_dims_t sizes,
                      int64_t rank, dnnl_format_tag_t tag) {
    return library.dnnl_memory_desc_init_by_tag(&layout, int(rank), sizes, type,
                                                tag) == dnnl_success;
  };
  dnnl_dims_t xs = {desc.n, desc.c}, ys = {desc.n, desc.o}, os = {desc.o};
  dnnl_dims_t w = {desc.groups, desc.o / desc.groups, desc.c / desc.groups};
  std::copy_n(desc.in, s, xs + 2);
  std::copy_n(desc.out, s, ys + 2);
  std::copy_n(desc.window, s, w + 3);
  bool grouped = desc.groups > 1;
  const int64_t *weightSizes = grouped ? w : w + 1;
  int64_t weightRank = grouped ? s + 3 : s + 2;
  dnnl_format_tag_t image =
      desc.channels_last ? lastTags[s - 1] : plainTags[s - 1];
  return describe(x, xs, s + 2, image) && describe(y, ys, s + 2, image) &&
         describe(bias, os, 1, dnnl_a) &&
         describe(weightSource, weightSizes, weightRank,
                  grouped ? groupedTags[s - 1] : weightTags[s - 1]) &&
         describe(weights, weightSizes, weightRank, dnnl_format_tag_any);
}

ConvSteps::ConvSteps(const aprt_conv_desc &desc) {
  for (int64_t d = 0; d < desc.spatial_rank; ++d) {
    dilations[d] = desc.dilations[d] - 1;
    padHigh[d] = effectivePadHigh(desc, d);
  }
}

int64_t leadingBlock(const dnnl_memory_desc_t &layout) {
  const dnnl_blocking_desc_t &blocking = layout.format_desc.blocking;
  int64_t block = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i)
    if (blocking.inner_idxs[i] == 0)
      block *= blocking.inner_blks[i];
  return block;
}

static bool readsOnlyPadding(const aprt_conv_desc &desc, int64_t d) {
  for (int64_t out = 0; out < desc.out[d]; ++out) {
    bool inside = false;
    for (int64_t tap = 0; tap < desc.window[d]; ++tap) {
      int64_t at = out * desc.strides[d] + tap * desc.dilations[d];
      inside |= at >= desc.pad_low[d] && at < desc.pad_low[d] + desc.in[d];
    }
    if (!inside)
      return true;
  }
  return false;
}

bool readsOnlyPadding(const aprt_conv_desc &desc) {
  for (int64_t d = 0; d < desc.spatial_rank; ++d)
    if (readsOnlyPadding(desc, d))
      return true;
  return false;
}

} // namespace autopar::runtime
