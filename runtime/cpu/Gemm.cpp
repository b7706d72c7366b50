//===- Gemm.cpp - The GEMMs of one rank -----------------------------------===//

#include "Gemm.h"

#include "../core/DataType.h"
#include "BlockedGemm.h"
#include "Gemv.h"

#include <algorithm>

namespace autopar::runtime {

Status Gemm::makeEntry(const Key &key, Entry &entry) {
  aprt_gemm_desc desc = joinBatches(normalizeGemm(key.desc));
  PackedMatrix *matrix = nullptr;
  if (desc.slot >= 0) {
    matrix = &packed[desc.slot];
    if (distinctMatrices(desc) != matrix->matrices ||
        desc.k != matrix->desc.k || desc.n != matrix->desc.n ||
        desc.dtype != matrix->desc.dtype)
      return Status::error("packed weight " + std::to_string(desc.slot) +
                           " was packed for another GEMM, or not at all");
  }
  auto attempt = [&](const aprt_gemm_desc &tried, int64_t mode,
                     const PackedMatrix *from) {
    entry.plan = std::make_unique<GemmPlan>(tried, mode);
    return entry.plan->create(library, pool.threads(), from, workspace);
  };
  auto attemptModes = [&](const aprt_gemm_desc &tried,
                          const PackedMatrix *from) {
    if (!library.available())
      return false;
    if (attempt(tried, key.addendMode, from))
      return true;
    entry.copyAddend = key.addendMode == separateAddend;
    return entry.copyAddend && attempt(tried, addendInC, from);
  };
  bool packed =
      matrix && !matrix->parts.empty() && !isGemv(desc) && !matrix->isAdopted;
  if (packed && attemptModes(desc, matrix))
    return Status::success();
  entry.copyAddend = false;
  if (matrix && matrix->isAdopted && isGemv(desc) && desc.m == 1) {
    entry.isVector = entry.ofParts = true;
    entry.plainDesc = withDenseB(desc, /*transposed=*/false);
    return workspace.reserve(gemvScratch(entry.plainDesc));
  }
  if (matrix) {
    APRT_TRY(ensurePlain(*matrix));
    desc = withDenseB(desc, matrix->plainIsTransposed);
  }
  if (isGemv(desc)) {
    entry.isVector = true;
    entry.plainDesc = desc;
    return workspace.reserve(gemvScratch(desc));
  }
  if (attemptModes(desc, nullptr))
    return Status::success();
  entry.copyAddend = false;
  entry.plan.reset();
  entry.plainDesc = desc;
  return workspace.reserve(blockedGemmScratch(desc));
}

/// Copies the addend to where C is, for plans that add to C.
static void copyToC(const aprt_gemm_desc &desc, const void *addend, void *c) {
  aprt_gemm_desc normal = normalizeGemm(desc);
  int64_t element = elementBytes(desc.dtype), r = normal.batch_rank;
  for (int64_t i = 0; i < gemmBatches(normal); ++i)
    for (int64_t row = 0; row < normal.m; ++row) {
      int64_t at = (gemmOffset(normal, normal.c_strides, i) +
                    row * normal.c_strides[r]) *
                   element;
      int64_t step = normal.c_strides[r + 1] * element;
      for (int64_t column = 0; column < normal.n; ++column, at += step)
        std::memcpy(static_cast<char *>(c) + at,
                    static_cast<const char *>(addend) + at, size_t(element));
    }
}

Status Gemm::run(const aprt_gemm_desc &desc, const GemmOperands &operands) {
  APRT_TRY(checkGemm(desc, packed.size()));
  Key key{canonicalGemm(desc), addendMode(desc, operands)};
  if (key.desc.m == 0 || key.desc.n == 0 || gemmBatches(key.desc) == 0)
    return Status::success();
  auto found = entries.find(key);
  if (found == entries.end()) {
    Entry entry;
    APRT_TRY(makeEntry(key, entry));
    found = entries.emplace(key, std::move(entry)).first;
  }
  Entry &entry = found->second;
  const void *b = operands.b;
  if (desc.slot >= 0)
    b = packed[desc.slot].plain.data();
  if (entry.isVector) {
    GemmOperands plain = operands;
    plain.b = b;
    gemv(entry.plainDesc, plain, pool, workspace,
         entry.ofParts ? &packed[desc.slot] : nullptr);
    return Status::success();
  }
  if (!entry.plan) {
    blockedGemm(entry.plainDesc, operands.a, b, operands.bias, operands.addend,
                operands.c, pool, workspace);
    return Status::success();
  }
  if (entry.copyAddend)
    copyToC(desc, operands.addend, operands.c);
  if (entry.plan->run(pool, operands.a, b, operands.bias, operands.addend,
                      operands.c))
    return Status::success();
  return Status::error("oneDNN failed to run a GEMM");
}

} // namespace autopar::runtime
