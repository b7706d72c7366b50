//===- Conv.cpp - Convolutions of one rank --------------------------------===//

#include "Conv.h"

#include "../core/DataType.h"
#include "NaiveConv.h"

#include <cstring>

namespace autopar::runtime {

/// Null where the plain loops must do.
Conv::Plan Conv::makePlan(const aprt_conv_desc &desc) {
  bool empty = countOutputs(desc) == 0 || countWeights(desc) == 0;
  for (int64_t d = 0; d < desc.spatial_rank; ++d)
    empty |= desc.in[d] == 0;
  if (empty || !library.available())
    return nullptr;
  Plan plan = std::make_unique<ConvPlan>(desc);
  if (!plan->create(library, pool.threads(), workspace, memory))
    return nullptr;
  return plan;
}

Status Conv::pack(const aprt_conv_desc &desc, const void *w) {
  APRT_TRY(checkConv(desc, plain.size()));
  if (desc.slot < 0)
    return Status::error("a weight to pack names no slot");
  aprt_conv_desc key = canonicalConv(desc);
  Plan &plan = plans[key];
  plan = makePlan(key);
  if (plan && plan->packWeights(library, w))
    return Status::success();
  plan = nullptr;
  int64_t bytes = countWeights(desc) * elementBytes(desc.dtype);
  APRT_TRY(plain[desc.slot].allocate(bytes, "a packed weight", &memory));
  std::memcpy(plain[desc.slot].data(), w, size_t(bytes));
  return Status::success();
}

Status Conv::run(const aprt_conv_desc &desc, const ConvOperands &operands) {
  APRT_TRY(checkConv(desc, plain.size()));
  aprt_conv_desc key = canonicalConv(desc);
  auto found = plans.find(key);
  if (found == plans.end()) {
    if (desc.slot >= 0)
      return Status::error("packed weight " + std::to_string(desc.slot) +
                           " was packed for another convolution, or not at "
                           "all");
    found = plans.emplace(key, makePlan(key)).first;
  }
  ConvPlan *plan = found->second.get();
  const void *w = desc.slot >= 0 ? plain[desc.slot].data() : operands.w;
  if (!plan) {
    naiveConv(desc, operands.x, w, operands.bias, operands.addend, operands.y,
              pool);
    return Status::success();
  }
  if (desc.addend && operands.addend != operands.y) {
    int64_t bytes = countOutputs(desc) * elementBytes(desc.dtype);
    pool.split(bytes, 64 << 10, [&](int64_t begin, int64_t end) {
      std::memcpy(static_cast<char *>(operands.y) + begin,
                  static_cast<const char *>(operands.addend) + begin,
                  size_t(end - begin));
    });
  }
  if (desc.slot < 0 && !plan->packWeights(library, w))
    return Status::error("oneDNN failed to pack a convolution's weights");
  if (plan->run(pool, operands.x, operands.bias, operands.y))
    return Status::success();
  return Status::error("oneDNN failed to run a convolution");
}

} // namespace autopar::runtime
