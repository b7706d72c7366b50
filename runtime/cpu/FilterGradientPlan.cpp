//===- FilterGradientPlan.cpp - The gradient of one filter ----------------===//

#include "FilterGradientPlan.h"

#include "../core/DataType.h"
#include "ConvLayouts.h"

#include <algorithm>
#include <atomic>

namespace autopar::runtime {

bool FilterGradientPlan::createPiece(const OneDnn &library,
                                     const aprt_conv_desc &images,
                                     int64_t thread) {
  ConvLayouts layouts;
  if (!layouts.init(library, images))
    return false;
  ConvSteps steps(images);
  PostOps none(library);
  dnnl_primitive_attr_t attributes = none.attributes();
  dnnl_convolution_desc_t forward, backward;
  Primitive hint;
  Piece &piece = pieces.back();
  if (library.dnnl_dilated_convolution_forward_desc_init(
          &forward, dnnl_forward_training, dnnl_convolution_direct, &layouts.x,
          &layouts.weights, nullptr, &layouts.y, images.strides,
          steps.dilations, images.pad_low, steps.padHigh) != dnnl_success ||
      library.dnnl_dilated_convolution_backward_weights_desc_init(
          &backward, dnnl_convolution_direct, &layouts.x, &layouts.weights,
          nullptr, &layouts.y, images.strides, steps.dilations, images.pad_low,
          steps.padHigh) != dnnl_success ||
      !none.ok() || !hint.create(library, &forward, attributes, nullptr) ||
      !piece.primitive.create(library, &backward, attributes, workspace, thread,
                              &hint))
    return false;
  result = layouts.weightSource;
  piece.layout = piece.primitive.layoutOf(dnnl_query_diff_weights_md);
  return piece.primitive.addArgument(DNNL_ARG_SRC, layouts.x) &&
         piece.primitive.addArgument(DNNL_ARG_DIFF_DST, layouts.y) &&
         piece.primitive.addArgument(DNNL_ARG_DIFF_WEIGHTS, piece.layout);
}

/// Cut by blocks of output channels that all pieces store together.
bool FilterGradientPlan::createSums(const OneDnn &library, int threads) {
  constexpr int64_t worthCutting = 32 << 10; // elements
  int64_t block = 1;
  for (const Piece &piece : pieces)
    block = std::max(block, leadingBlock(piece.layout));
  bool isCut =
      desc.o % block == 0 && product(result.dims, result.ndims) >= worthCutting;
  int64_t blocks = desc.o / block;
  int64_t length = isCut ? (blocks + threads - 1) / threads * block : desc.o;
  for (int64_t begin = 0; begin < desc.o; begin += length) {
    dnnl_dims_t sizes, offsets = {begin};
    std::copy_n(result.dims, result.ndims, sizes);
    sizes[0] = std::min(length, desc.o - begin);
    sums.emplace_back();
    for (size_t i = 0; i < pieces.size(); ++i) {
      dnnl_memory_desc_t from = pieces[i].layout, to = result;
      bool isPart = sizes[0] < desc.o;
      if (isPart &&
          (library.dnnl_memory_desc_init_submemory(
               &from, &pieces[i].layout, sizes, offsets) != dnnl_success ||
           library.dnnl_memory_desc_init_submemory(&to, &result, sizes,
                                                   offsets) != dnnl_success))
        return false;
      sums.back().emplace_back();
      if (!sums.back().back().createReorder(library, from, to, workspace,
                                            /*adds=*/i > 0))
        return false;
    }
  }
  return true;
}

bool FilterGradientPlan::create(const OneDnn &library, int threads,
                                Workspace &scratch) {
  constexpr int64_t line = 64;
  workspace = &scratch;
  if (readsOnlyPadding(desc))
    return false;
  int64_t count = std::min<int64_t>(threads, desc.n);
  for (int64_t i = 0; i < count; ++i) {
    pieces.emplace_back();
    pieces.back().image = desc.n * i / count;
    pieces.back().place = scratchBytes;
    aprt_conv_desc images = desc;
    images.n = desc.n * (i + 1) / count - pieces.back().image;
    if (!createPiece(library, images, i))
      return false;
    int64_t bytes =
        int64_t(library.dnnl_memory_desc_get_size(&pieces.back().layout));
    scratchBytes += (bytes + line - 1) / line * line;
  }
  return createSums(library, threads);
}

bool FilterGradientPlan::run(ThreadPool &pool, const ConvOperands &operands) {
  int64_t element = elementBytes(desc.dtype);
  int64_t xImage = countInputs(desc) / desc.n * element;
  int64_t yImage = countOutputs(desc) / desc.n * element;
  std::atomic<bool> good{true};
  pool.run(int64_t(pieces.size()), [&](int64_t i) {
    Piece &piece = pieces[i];
    auto at = [&](const void *images, int64_t image) {
      return static_cast<const char *>(images) + piece.image * image;
    };
    piece.primitive.bind(DNNL_ARG_SRC, at(operands.x, xImage));
    piece.primitive.bind(DNNL_ARG_DIFF_DST, at(operands.w, yImage));
    piece.primitive.bind(DNNL_ARG_DIFF_WEIGHTS, scratch() + piece.place);
    if (!piece.primitive.execute())
      good.store(false);
  });
  auto add = [&](int64_t part) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      Primitive &sum = sums[part][i];
      sum.bind(DNNL_ARG_FROM, scratch() + pieces[i].place);
      sum.bind(DNNL_ARG_TO, operands.y);
      if (!sum.execute())
        good.store(false);
    }
  };
  bool oneByOne = std::any_of(sums.begin(), sums.end(), [](auto &part) {
    return std::any_of(part.begin(), part.end(),
                       [](auto &sum) { return sum.needsScratch(); });
  });
  for (size_t part = 0; part < sums.size() && oneByOne; ++part)
    add(int64_t(part));
  if (!oneByOne)
    pool.run(int64_t(sums.size()), add);
  return good.load();
}

} // namespace autopar::runtime
