//===- ConvPlan.cpp - One convolution cut for the threads -----------------===//

#include "ConvPlan.h"

#include "../core/DataType.h"

#include <algorithm>
#include <atomic>

namespace autopar::runtime {

static constexpr int64_t channelBlock = 16;

static int64_t product(const int64_t *sizes, int64_t rank) {
  int64_t result = 1;
  for (int64_t d = 0; d < rank; ++d)
    result *= sizes[d];
  return result;
}

/// Channels of a tensor as stored.
static int64_t storedChannels(int64_t channels, bool blocked) {
  return blocked ? (channels + channelBlock - 1) / channelBlock * channelBlock
                 : channels;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

/// The smallest number of groups (or, without groups, of output channels) whose
/// borders fall on borders of channel blocks.
static int64_t channelUnit(const aprt_conv_desc &desc) {
  if (desc.groups == 1)
    return channelBlock;
  int64_t perX = desc.c / desc.groups, perY = desc.o / desc.groups;
  for (int64_t unit = 1; unit < desc.groups; ++unit)
    if ((!desc.x_blocked || unit * perX % channelBlock == 0) &&
        (!desc.y_blocked || unit * perY % channelBlock == 0))
      return unit;
  return desc.groups;
}

/// One piece per thread over channels; a single piece if they are too few.
static std::vector<ConvPiece> cutChannels(const aprt_conv_desc &desc,
                                          int threads) {
  bool grouped = desc.groups > 1;
  int64_t total = grouped ? desc.groups : desc.o;
  int64_t unit = channelUnit(desc);
  int64_t length = (total + threads - 1) / threads;
  length = (length + unit - 1) / unit * unit;
  std::vector<ConvPiece> pieces;
  for (int64_t begin = 0; begin < total; begin += length) {
    int64_t end = std::min(total, begin + length);
    ConvPiece piece;
    piece.imageEnd = desc.n;
    piece.groups = grouped ? end - begin : 1;
    int64_t perX = grouped ? desc.c / desc.groups : 0;
    int64_t perY = grouped ? desc.o / desc.groups : 1;
    piece.c = begin * perX;
    piece.cEnd = grouped ? end * perX : desc.c;
    piece.o = begin * perY;
    piece.oEnd = end * perY;
    pieces.push_back(piece);
  }
  return pieces;
}

std::vector<ConvPiece> cutConv(const aprt_conv_desc &desc, int threads) {
  ConvPiece whole;
  whole.imageEnd = whole.step = desc.n;
  whole.cEnd = desc.c;
  whole.oEnd = desc.o;
  whole.groups = desc.groups;
  if (threads == 1)
    return {whole};
  std::vector<ConvPiece> pieces;
  if (desc.n % threads != 0) {
    pieces = cutChannels(desc, threads);
    if (pieces.size() > 1)
      return pieces;
    pieces.clear();
  }
  int64_t count = std::min<int64_t>(threads, desc.n);
  for (int64_t i = 0; i < count; ++i) {
    ConvPiece piece = whole;
    piece.image = desc.n * i / count;
    piece.imageEnd = desc.n * (i + 1) / count;
    piece.step = desc.n % count == 0 ? desc.n / count : 1;
    pieces.push_back(piece);
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

namespace {
/// Layout tags by spatial rank.
constexpr dnnl_format_tag_t plainTags[] = {dnnl_ncw, dnnl_nchw, dnnl_ncdhw};
constexpr dnnl_format_tag_t blockedTags[] = {dnnl_nCw16c, dnnl_nChw16c,
                                             dnnl_nCdhw16c};
constexpr dnnl_format_tag_t weightTags[] = {dnnl_oiw, dnnl_oihw, dnnl_oidhw};
constexpr dnnl_format_tag_t groupedTags[] = {dnnl_goiw, dnnl_goihw,
                                             dnnl_goidhw};

struct ConvLayouts {
  dnnl_memory_desc_t x, y, bias, weightSource, weights;
};
} // namespace

static bool convLayouts(const OneDnn &library, const aprt_conv_desc &desc,
                        const ConvPiece &piece, ConvLayouts &layouts) {
  dnnl_data_type_t type = oneDnnType(desc.dtype);
  if (type == dnnl_data_type_undef)
    return false;
  int64_t s = desc.spatial_rank;
  auto init = [&](dnnl_memory_desc_t &layout, const dnnl_dims_t sizes,
                  int64_t rank, dnnl_format_tag_t tag) {
    return library.dnnl_memory_desc_init_by_tag(&layout, int(rank), sizes, type,
                                                tag) == dnnl_success;
  };
  dnnl_dims_t x = {piece.step, piece.cEnd - piece.c};
  dnnl_dims_t y = {piece.step, piece.oEnd - piece.o};
  dnnl_dims_t bias = {y[1]};
  dnnl_dims_t w = {piece.groups, y[1] / piece.groups, x[1] / piece.groups};
  std::copy_n(desc.in, s, x + 2);
  std::copy_n(desc.out, s, y + 2);
  std::copy_n(desc.window, s, w + 3);
  bool grouped = piece.groups > 1;
  const int64_t *weightSizes = grouped ? w : w + 1;
  int64_t weightRank = grouped ? s + 3 : s + 2;
  return init(layouts.x, x, s + 2,
              desc.x_blocked ? blockedTags[s - 1] : plainTags[s - 1]) &&
         init(layouts.y, y, s + 2,
              desc.y_blocked ? blockedTags[s - 1] : plainTags[s - 1]) &&
         init(layouts.bias, bias, 1, dnnl_a) &&
         init(layouts.weightSource, weightSizes, weightRank,
              grouped ? groupedTags[s - 1] : weightTags[s - 1]) &&
         init(layouts.weights, weightSizes, weightRank, dnnl_format_tag_any);
}

static bool convOperation(const OneDnn &library, const aprt_conv_desc &desc,
                          const ConvLayouts &layouts,
                          dnnl_convolution_desc_t &operation) {
  dnnl_dims_t dilations, padHigh;
  for (int64_t d = 0; d < desc.spatial_rank; ++d) {
    dilations[d] = desc.dilations[d] - 1;
    int64_t reach = (desc.window[d] - 1) * desc.dilations[d] + 1;
    int64_t padded = desc.in[d] + desc.pad_low[d] + desc.pad_high[d];
    padHigh[d] = desc.pad_high[d];
    // A local slice may have another padding than its output needs.
    if (padded < reach || (padded - reach) / desc.strides[d] + 1 != desc.out[d])
      padHigh[d] = (desc.out[d] - 1) * desc.strides[d] + reach - desc.in[d] -
                   desc.pad_low[d];
  }
  return library.dnnl_dilated_convolution_forward_desc_init(
             &operation, dnnl_forward_inference, dnnl_convolution_direct,
             &layouts.x, &layouts.weights, desc.bias ? &layouts.bias : nullptr,
             &layouts.y, desc.strides, dilations, desc.pad_low,
             padHigh) == dnnl_success;
}

bool ConvPlan::createStep(const OneDnn &library, Step &step,
                          Workspace &workspace, MemoryCounter &memory) {
  ConvLayouts layouts;
  dnnl_convolution_desc_t operation;
  if (!convLayouts(library, desc, step.piece, layouts) ||
      !convOperation(library, desc, layouts, operation))
    return false;
  PostOps epilogue(library);
  if (desc.addend)
    epilogue.sum();
  epilogue.activation(desc.activation);
  dnnl_primitive_attr_t attributes = epilogue.attributes();
  Primitive &primitive = step.primitive;
  if (!epilogue.ok() ||
      !primitive.create(library, &operation, attributes, &workspace,
                        steps.size() - 1) ||
      !primitive.addArgument(DNNL_ARG_SRC, layouts.x) ||
      !primitive.addArgument(DNNL_ARG_WEIGHTS, primitive.weightsLayout()) ||
      !primitive.addArgument(DNNL_ARG_DST, layouts.y) ||
      (desc.bias && !primitive.addArgument(DNNL_ARG_BIAS, layouts.bias)))
    return false;
  // Pieces of the same channels share their weights.
  int64_t offset = step.piece.o * (desc.c / desc.groups) *
                   product(desc.window, desc.spatial_rank);
  for (step.weights = 0; step.weights < weights.size(); ++step.weights)
    if (weights[step.weights].offset == offset)
      return true;
  weights.emplace_back();
  weights.back().offset = offset;
  weights.back().source = layouts.weightSource;
  weights.back().layout = primitive.weightsLayout();
  size_t bytes = library.dnnl_memory_desc_get_size(&weights.back().layout);
  return weights.back()
      .data.allocate(int64_t(bytes), "a packed weight", &memory)
      .ok();
}

bool ConvPlan::create(const OneDnn &library, int threads,
                      Workspace &workspace, MemoryCounter &memory) {
  for (const ConvPiece &piece : cutConv(desc, threads)) {
    steps.emplace_back();
    steps.back().piece = piece;
    if (!createStep(library, steps.back(), workspace, memory))
      return false;
  }
  return true;
}

bool ConvPlan::packWeights(const OneDnn &library, const void *w) {
  for (Weights &part : weights) {
    Primitive reorder;
    if (!reorder.createReorder(library, part.source, part.layout))
      return false;
    reorder.bind(DNNL_ARG_FROM, static_cast<const char *>(w) +
                                    part.offset * elementBytes(desc.dtype));
    reorder.bind(DNNL_ARG_TO, part.data.data());
    if (!reorder.execute())
      return false;
  }
  return true;
}

bool ConvPlan::runStep(Step &step, const char *x, const char *bias, char *y) {
  const ConvPiece &piece = step.piece;
  int64_t element = elementBytes(desc.dtype), s = desc.spatial_rank;
  int64_t inPixels = product(desc.in, s), outPixels = product(desc.out, s);
  int64_t xImage = storedChannels(desc.c, desc.x_blocked) * inPixels;
  int64_t yImage = storedChannels(desc.o, desc.y_blocked) * outPixels;
  Primitive &primitive = step.primitive;
  primitive.bind(DNNL_ARG_WEIGHTS, weights[step.weights].data.data());
  if (desc.bias)
    primitive.bind(DNNL_ARG_BIAS, bias + piece.o * element);
  for (int64_t i = piece.image; i < piece.imageEnd; i += piece.step) {
    primitive.bind(DNNL_ARG_SRC,
                   x + (i * xImage + piece.c * inPixels) * element);
    primitive.bind(DNNL_ARG_DST,
                   y + (i * yImage + piece.o * outPixels) * element);
    if (!primitive.execute())
      return false;
  }
  return true;
}

bool ConvPlan::run(ThreadPool &pool, const void *x, const void *bias, void *y) {
  std::atomic<bool> good{true};
  pool.run(int64_t(steps.size()), [&](int64_t i) {
    if (!runStep(steps[i], static_cast<const char *>(x),
                 static_cast<const char *>(bias), static_cast<char *>(y)))
      good.store(false);
  });
  return good.load();
}

} // namespace autopar::runtime
