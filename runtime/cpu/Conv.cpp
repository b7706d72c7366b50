//===- Conv.cpp - Convolutions of one rank --------------------------------===//

#include "Conv.h"

#include "../core/DataType.h"
#include "NaiveConv.h"
#include "ShallowConv.h"

#include <cstring>
#include <optional>

namespace autopar::runtime {

/// Elements that one thread converts or copies at least.
static constexpr int64_t grain = 16 << 10;

static bool isHalf(int64_t dtype) {
  return dtype == APRT_F16 || dtype == APRT_BF16;
}

static void widen(ThreadPool &pool, int64_t dtype, const void *from, float *to,
                  int64_t count) {
  visitDtype(dtype, [&](auto example) {
    using T = decltype(example);
    pool.split(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = float(Element<T>::load(static_cast<const T *>(from)[i]));
    });
  });
}

static void narrow(ThreadPool &pool, int64_t dtype, const float *from, void *to,
                   int64_t count) {
  visitDtype(dtype, [&](auto example) {
    using E = Element<decltype(example)>;
    pool.split(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        static_cast<decltype(example) *>(to)[i] =
            E::store(typename E::Compute(from[i]));
    });
  });
}

/// The GEMM that computes images of one pixel with a window of one, if an
/// epilogue of GEMMs can say the convolution's: [n, c] * [o, c]^T.
static std::optional<aprt_gemm_desc> pixelGemm(const aprt_conv_desc &desc) {
  for (int64_t d = 0; d < desc.spatial_rank; ++d)
    if (desc.in[d] != 1 || desc.window[d] != 1 || desc.out[d] != 1 ||
        desc.pad_low[d] != 0)
      return std::nullopt;
  if (desc.groups != 1 || (desc.addend && desc.activation != APRT_ACT_NONE))
    return std::nullopt;
  aprt_gemm_desc gemm{};
  gemm.dtype = desc.dtype;
  gemm.m = desc.n;
  gemm.n = desc.o;
  gemm.k = desc.c;
  gemm.a_strides[0] = desc.c;
  gemm.a_strides[1] = 1;
  gemm.b_strides[0] = 1;
  gemm.b_strides[1] = desc.c;
  gemm.c_strides[0] = desc.o;
  gemm.c_strides[1] = 1;
  gemm.bias = desc.bias;
  gemm.addend = desc.addend;
  gemm.activation = desc.activation;
  gemm.slot = desc.slot;
  return gemm;
}

Status Conv::makeEntry(const aprt_conv_desc &desc, Entry &entry) {
  entry = Entry();
  if (isShallowConv(desc)) {
    entry.isShallow = true;
    return workspace.reserve(shallowConvScratch(desc));
  }
  bool empty = countOutputs(desc) == 0 || countWeights(desc) == 0;
  for (int64_t d = 0; d < desc.spatial_rank; ++d)
    empty |= desc.in[d] == 0;
  if (empty || !library.available())
    return Status::success();
  for (bool widened : {false, true}) {
    if (widened && !isHalf(desc.dtype))
      break;
    aprt_conv_desc tried = desc;
    tried.dtype = widened ? int64_t(APRT_F32) : desc.dtype;
    entry.plan = std::make_unique<ConvPlan>(imageConv(tried));
    entry.widened = widened;
    if (entry.plan->create(library, pool.threads(), workspace))
      return entry.plan->allocate(memory);
  }
  entry = Entry();
  return Status::success();
}

Status Conv::packWeights(Entry &entry, const aprt_conv_desc &desc,
                         const void *w) {
  Buffer wide;
  if (entry.widened) {
    int64_t count = countWeights(desc);
    APRT_TRY(wide.allocate(count * int64_t(sizeof(float)),
                           "a weight to be packed", &memory));
    widen(pool, desc.dtype, w, static_cast<float *>(wide.data()), count);
    w = wide.data();
  }
  if (entry.plan->packWeights(pool, w))
    return Status::success();
  return Status::error("oneDNN failed to pack a convolution's weights");
}

Status Conv::pack(const aprt_conv_desc &desc, const void *w) {
  APRT_TRY(checkConv(desc, plain.size()));
  if (desc.slot < 0)
    return Status::error("a weight to pack names no slot");
  if (std::optional<aprt_gemm_desc> gemm = pixelGemm(desc))
    return gemms.pack(*gemm, w);
  aprt_conv_desc key = canonicalConv(desc);
  Entry &entry = entries[key];
  APRT_TRY(makeEntry(key, entry));
  if (entry.plan) {
    APRT_TRY(packWeights(entry, key, w));
    entry.plan->shareWeights(store);
    return Status::success();
  }
  int64_t bytes = countWeights(desc) * elementBytes(desc.dtype);
  APRT_TRY(plain[desc.slot].allocate(bytes, "a packed weight", &memory));
  std::memcpy(plain[desc.slot].data(), w, size_t(bytes));
  plain[desc.slot].shareIn(store);
  return Status::success();
}

Status Conv::runPlan(ConvPlan &plan, const aprt_conv_desc &desc,
                     const ConvOperands &operands) {
  if (desc.addend && operands.addend != operands.y) {
    int64_t bytes = countOutputs(desc) * elementBytes(desc.dtype);
    pool.split(bytes, 4 * grain, [&](int64_t begin, int64_t end) {
      std::memcpy(static_cast<char *>(operands.y) + begin,
                  static_cast<const char *>(operands.addend) + begin,
                  size_t(end - begin));
    });
  }
  if (plan.run(pool, operands.x, operands.bias, operands.y))
    return Status::success();
  return Status::error("oneDNN failed to run a convolution");
}

Status Conv::runWidened(ConvPlan &plan, const aprt_conv_desc &desc,
                        const ConvOperands &operands) {
  constexpr int64_t line = 16; // floats
  int64_t inputs = countInputs(desc), outputs = countOutputs(desc);
  int64_t yAt = (inputs + line - 1) / line * line;
  int64_t biasAt = yAt + (outputs + line - 1) / line * line;
  int64_t bytes = (biasAt + desc.o) * int64_t(sizeof(float));
  APRT_TRY(workspace.reserveShared(bytes));
  auto *x = static_cast<float *>(workspace.sharedBlock());
  float *y = x + yAt, *bias = x + biasAt;
  widen(pool, desc.dtype, operands.x, x, inputs);
  if (desc.addend)
    widen(pool, desc.dtype, operands.addend, y, outputs);
  if (desc.bias)
    widen(pool, desc.dtype, operands.bias, bias, desc.o);
  if (!plan.run(pool, x, bias, y))
    return Status::error("oneDNN failed to run a convolution");
  narrow(pool, desc.dtype, y, operands.y, outputs);
  return Status::success();
}

Status Conv::runFilterGradient(const aprt_conv_desc &desc,
                               const ConvOperands &operands) {
  auto [found, isNew] = gradients.try_emplace(desc);
  std::unique_ptr<FilterGradientPlan> &plan = found->second;
  bool empty = countInputs(desc) == 0 || countOutputs(desc) == 0 ||
               countWeights(desc) == 0;
  if (isNew && !empty && library.available()) {
    plan = std::make_unique<FilterGradientPlan>(imageConv(desc));
    if (!plan->create(library, pool.threads(), workspace))
      plan.reset();
    else
      APRT_TRY(plan->allocate());
  }
  if (!plan)
    naiveFilterGradient(desc, operands.x, operands.w, operands.y, pool);
  else if (!plan->run(pool, operands))
    return Status::error("oneDNN failed to compute the gradient of a filter");
  return Status::success();
}

Status Conv::run(const aprt_conv_desc &desc, const ConvOperands &operands) {
  APRT_TRY(checkConv(desc, plain.size()));
  if (desc.filter_gradient)
    return runFilterGradient(canonicalConv(desc), operands);
  if (std::optional<aprt_gemm_desc> gemm = pixelGemm(desc))
    return gemms.run(*gemm, {operands.x, operands.w, operands.bias,
                             operands.addend, operands.y});
  aprt_conv_desc key = canonicalConv(desc);
  auto found = entries.find(key);
  if (found == entries.end()) {
    if (desc.slot >= 0)
      return Status::error("packed weight " + std::to_string(desc.slot) +
                           " was packed for another convolution, or not at "
                           "all");
    Entry entry;
    APRT_TRY(makeEntry(key, entry));
    found = entries.emplace(key, std::move(entry)).first;
  }
  Entry &entry = found->second;
  if (!entry.plan) {
    const void *w = desc.slot >= 0 ? plain[desc.slot].data() : operands.w;
    if (entry.isShallow)
      shallowConv(desc, w, operands, pool, workspace);
    else
      naiveConv(desc, operands.x, w, operands.bias, operands.addend, operands.y,
                pool);
    return Status::success();
  }
  if (desc.slot < 0)
    APRT_TRY(packWeights(entry, key, operands.w));
  return entry.widened ? runWidened(*entry.plan, key, operands)
                       : runPlan(*entry.plan, key, operands);
}

} // namespace autopar::runtime
