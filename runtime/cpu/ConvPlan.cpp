//===- ConvPlan.cpp - One convolution cut for the threads -----------------===//

#include "ConvPlan.h"

#include "../core/ConvShape.h"
#include "../core/DataType.h"
#include "ConvLayouts.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

/// Groups, or without groups output channels, [begin, end) of plain tensors.
static ConvPiece channelPiece(const aprt_conv_desc &desc, int64_t begin,
                              int64_t end) {
  bool grouped = desc.groups > 1;
  int64_t perX = grouped ? desc.c / desc.groups : 0;
  int64_t perY = grouped ? desc.o / desc.groups : 1;
  ConvPiece piece{desc, 0, desc.n};
  piece.desc.n = 1;
  piece.desc.groups = grouped ? end - begin : 1;
  piece.desc.c = grouped ? (end - begin) * perX : desc.c;
  piece.desc.o = (end - begin) * perY;
  piece.x = begin * perX * product(desc.in, desc.spatial_rank);
  piece.o = begin * perY;
  piece.y = piece.o * product(desc.out, desc.spatial_rank);
  return piece;
}

/// The outermost spatial dimension: those before it have size 1.
static int64_t rowDim(const aprt_conv_desc &desc) {
  int64_t d = 0;
  while (d + 1 < desc.spatial_rank && desc.in[d] == 1 && desc.out[d] == 1)
    ++d;
  return d;
}

/// Output rows [begin, end) of the outermost spatial dimension of channels-last
/// tensors.
static ConvPiece rowPiece(const aprt_conv_desc &desc, int64_t begin,
                          int64_t end) {
  int64_t d = rowDim(desc), inner = desc.spatial_rank - d - 1;
  int64_t reach = (desc.window[d] - 1) * desc.dilations[d] + 1;
  int64_t low = begin * desc.strides[d] - desc.pad_low[d];
  int64_t high = (end - 1) * desc.strides[d] - desc.pad_low[d] + reach;
  int64_t first = std::max<int64_t>(low, 0), last = std::min(high, desc.in[d]);
  ConvPiece piece{desc, 0, desc.n};
  piece.desc.n = 1;
  piece.desc.in[d] = last - first;
  piece.desc.out[d] = end - begin;
  piece.desc.pad_low[d] = first - low;
  piece.desc.pad_high[d] = high - last;
  piece.x = first * product(desc.in + d + 1, inner) * desc.c;
  piece.y = begin * product(desc.out + d + 1, inner) * desc.o;
  return piece;
}

/// Images [i * n / count, (i + 1) * n / count) for each i.
static std::vector<ConvPiece> cutImages(const aprt_conv_desc &desc,
                                        int64_t count) {
  std::vector<ConvPiece> pieces;
  for (int64_t i = 0; i < count; ++i) {
    ConvPiece piece{desc, desc.n * i / count, desc.n * (i + 1) / count};
    piece.desc.n = desc.n % count == 0 ? desc.n / count : 1;
    pieces.push_back(piece);
  }
  return pieces;
}

/// The library computes output channels in blocks of this many.
static constexpr int64_t channelBlock = 16;

/// One piece per thread that has something to do; none if a piece would be in
/// the padding.
static std::vector<ConvPiece> cutInside(const aprt_conv_desc &desc,
                                        int threads) {
  bool rows = desc.channels_last, channels = !rows && desc.groups == 1;
  int64_t total = rows       ? desc.out[rowDim(desc)]
                  : channels ? desc.o
                             : desc.groups;
  int64_t unit = channels && total >= channelBlock * threads ? channelBlock : 1;
  int64_t count = std::min<int64_t>(threads, total);
  std::vector<ConvPiece> pieces;
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = total * i / count / unit * unit;
    int64_t end =
        i + 1 == count ? total : total * (i + 1) / count / unit * unit;
    pieces.push_back(rows ? rowPiece(desc, begin, end)
                          : channelPiece(desc, begin, end));
    if (pieces.back().desc.in[rowDim(desc)] <= 0)
      return {};
  }
  return pieces;
}

std::vector<ConvPiece> cutConv(const aprt_conv_desc &desc, int threads) {
  constexpr double smallConv = 1 << 17; // flops not worth a second thread
  double flops = 2.0 * double(countOutputs(desc)) * double(desc.c) /
                 double(desc.groups) *
                 double(product(desc.window, desc.spatial_rank));
  if (flops < smallConv)
    return cutImages(desc, 1);
  if (desc.n % threads == 0)
    return cutImages(desc, threads);
  std::vector<ConvPiece> pieces = cutInside(desc, threads);
  if (pieces.size() > 1)
    return pieces;
  return cutImages(desc, std::min<int64_t>(threads, desc.n));
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

static bool convOperation(const OneDnn &library, const aprt_conv_desc &desc,
                          const ConvLayouts &layouts,
                          dnnl_convolution_desc_t &operation) {
  ConvSteps steps(desc);
  return library.dnnl_dilated_convolution_forward_desc_init(
             &operation, dnnl_forward_inference, dnnl_convolution_direct,
             &layouts.x, &layouts.weights, desc.bias ? &layouts.bias : nullptr,
             &layouts.y, desc.strides, steps.dilations, desc.pad_low,
             steps.padHigh) == dnnl_success;
}

/// Descriptors of equal bytes are equal; different bytes may still be.
static bool sameLayout(const dnnl_memory_desc_t &a,
                       const dnnl_memory_desc_t &b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

bool ConvPlan::createStep(const OneDnn &library, Step &step) {
  ConvLayouts layouts;
  dnnl_convolution_desc_t operation;
  if (!layouts.init(library, step.piece.desc) ||
      !convOperation(library, step.piece.desc, layouts, operation))
    return false;
  PostOps epilogue(library);
  if (desc.addend)
    epilogue.sum();
  epilogue.activation(desc.activation);
  dnnl_primitive_attr_t attributes = epilogue.attributes();
  Primitive &primitive = step.primitive;
  if (!epilogue.ok() ||
      !primitive.create(library, &operation, attributes, workspace,
                        steps.size() - 1) ||
      !primitive.addArgument(DNNL_ARG_SRC, layouts.x) ||
      !primitive.addArgument(DNNL_ARG_WEIGHTS,
                             primitive.layoutOf(dnnl_query_weights_md)) ||
      !primitive.addArgument(DNNL_ARG_DST, layouts.y) ||
      (desc.bias && !primitive.addArgument(DNNL_ARG_BIAS, layouts.bias)))
    return false;
  // Pieces of the same channels and layout share their weights.
  int64_t offset = step.piece.o * (desc.c / desc.groups) *
                   product(desc.window, desc.spatial_rank);
  for (step.weights = 0; step.weights < weights.size(); ++step.weights)
    if (weights[step.weights].offset == offset &&
        sameLayout(weights[step.weights].layout,
                   primitive.layoutOf(dnnl_query_weights_md)))
      return true;
  weights.emplace_back();
  weights.back().offset = offset;
  weights.back().source = layouts.weightSource;
  weights.back().layout = primitive.layoutOf(dnnl_query_weights_md);
  return true;
}

/// One for each piece of the output channels, or one for all of them where they
/// cannot be cut.
bool ConvPlan::createReorders(const OneDnn &library, size_t part,
                              int64_t pieces) {
  constexpr int64_t worthCutting = 32 << 10; // elements
  const Weights &whole = weights[part];
  int64_t channels = whole.layout.dims[0];
  int64_t block = leadingBlock(whole.layout);
  bool isCut = channels % block == 0 &&
               product(whole.layout.dims, whole.layout.ndims) >= worthCutting;
  int64_t length =
      isCut ? (channels / block + pieces - 1) / pieces * block : channels;
  for (int64_t begin = 0; begin < channels; begin += length) {
    dnnl_dims_t sizes, offsets = {begin};
    std::copy_n(whole.layout.dims, whole.layout.ndims, sizes);
    sizes[0] = std::min(length, channels - begin);
    dnnl_memory_desc_t from = whole.source, to = whole.layout;
    bool isPart = sizes[0] < channels;
    if (isPart && (library.dnnl_memory_desc_init_submemory(
                       &from, &whole.source, sizes, offsets) != dnnl_success ||
                   library.dnnl_memory_desc_init_submemory(
                       &to, &whole.layout, sizes, offsets) != dnnl_success))
      return false;
    reorders.emplace_back();
    reorders.back().weights = part;
    if (!reorders.back().primitive.createReorder(library, from, to, workspace))
      return false;
  }
  return true;
}

bool ConvPlan::create(const OneDnn &library, int threads, Workspace &scratch) {
  workspace = &scratch;
  if (desc.channels_last && readsOnlyPadding(desc))
    return false;
  for (const ConvPiece &piece : cutConv(desc, threads)) {
    steps.emplace_back();
    steps.back().piece = piece;
    if (!createStep(library, steps.back()))
      return false;
  }
  int64_t parts = int64_t(weights.size());
  for (int64_t part = 0; part < parts; ++part) {
    constexpr int64_t line = 64;
    weights[part].place = packedBytes;
    int64_t size =
        int64_t(library.dnnl_memory_desc_get_size(&weights[part].layout));
    packedBytes += (size + line - 1) / line * line;
    if (!createReorders(library, part, (threads + parts - 1) / parts))
      return false;
  }
  return true;
}

Status ConvPlan::allocate(MemoryCounter &memory) {
  return desc.slot < 0 ? workspace->reserveFilter(packedBytes)
                       : kept.allocate(packedBytes, "a packed weight", &memory);
}

bool ConvPlan::packWeights(ThreadPool &pool, const void *w) {
  std::atomic<bool> good{true};
  auto pack = [&](int64_t i) {
    Primitive &reorder = reorders[i].primitive;
    const Weights &part = weights[reorders[i].weights];
    reorder.bind(DNNL_ARG_FROM, static_cast<const char *>(w) +
                                    part.offset * elementBytes(desc.dtype));
    reorder.bind(DNNL_ARG_TO, packed() + part.place);
    if (!reorder.execute())
      good.store(false);
  };
  bool oneByOne = std::any_of(reorders.begin(), reorders.end(), [](auto &it) {
    return it.primitive.needsScratch();
  });
  for (size_t i = 0; i < reorders.size() && oneByOne; ++i)
    pack(int64_t(i));
  if (!oneByOne)
    pool.run(int64_t(reorders.size()), pack);
  return good.load();
}

bool ConvPlan::runStep(Step &step, const char *x, const char *bias, char *y) {
  const ConvPiece &piece = step.piece;
  int64_t element = elementBytes(desc.dtype), s = desc.spatial_rank;
  int64_t xImage = desc.c * product(desc.in, s);
  int64_t yImage = desc.o * product(desc.out, s);
  Primitive &primitive = step.primitive;
  primitive.bind(DNNL_ARG_WEIGHTS, packed() + weights[step.weights].place);
  if (desc.bias)
    primitive.bind(DNNL_ARG_BIAS, bias + piece.o * element);
  for (int64_t i = piece.image; i < piece.imageEnd; i += piece.desc.n) {
    primitive.bind(DNNL_ARG_SRC, x + (i * xImage + piece.x) * element);
    primitive.bind(DNNL_ARG_DST, y + (i * yImage + piece.y) * element);
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
