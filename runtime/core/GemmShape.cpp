//===- GemmShape.cpp - Descriptions of GEMMs ------------------------------===//

#include "GemmShape.h"

#include "DataType.h"

#include <algorithm>

namespace autopar::runtime {

AddendMode addendMode(const aprt_gemm_desc &desc,
                      const GemmOperands &operands) {
  if (!desc.addend)
    return noAddend;
  return operands.addend == operands.c ? addendInC : separateAddend;
}

Status checkGemm(const aprt_gemm_desc &desc, size_t slots) {
  if (elementBytes(desc.dtype) == 0 || desc.batch_rank < 0 ||
      desc.batch_rank > APRT_GEMM_MAX_BATCH || desc.m < 0 || desc.n < 0 ||
      desc.k < 0 || desc.activation < APRT_ACT_NONE ||
      desc.activation > APRT_ACT_SILU)
    return Status::error("bad description of a GEMM");
  for (int64_t d = 0; d < desc.batch_rank; ++d)
    if (desc.batch[d] < 0)
      return Status::error("bad batch of a GEMM");
  if (desc.slot >= int64_t(slots))
    return Status::error("packed weight " + std::to_string(desc.slot) +
                         " does not exist");
  return Status::success();
}

aprt_gemm_desc canonicalGemm(const aprt_gemm_desc &desc) {
  aprt_gemm_desc result{};
  result.dtype = desc.dtype;
  result.batch_rank = desc.batch_rank;
  result.m = desc.m;
  result.n = desc.n;
  result.k = desc.k;
  std::copy_n(desc.batch, desc.batch_rank, result.batch);
  std::copy_n(desc.a_strides, desc.batch_rank + 2, result.a_strides);
  std::copy_n(desc.b_strides, desc.batch_rank + 2, result.b_strides);
  std::copy_n(desc.c_strides, desc.batch_rank + 2, result.c_strides);
  result.bias = desc.bias;
  result.addend = desc.addend;
  result.activation = desc.activation;
  result.slot = desc.slot;
  return result;
}

void dropBatch(aprt_gemm_desc &desc, int64_t dim) {
  for (int64_t *strides : {desc.a_strides, desc.b_strides, desc.c_strides})
    std::copy(strides + dim + 1, strides + desc.batch_rank + 2, strides + dim);
  std::copy(desc.batch + dim + 1, desc.batch + desc.batch_rank,
            desc.batch + dim);
  --desc.batch_rank;
}

/// Returns whether batch dimension `d` can be the rows of a matrix with the
/// last dimension as columns. One of the two must be dense, and lines must not
/// overlap.
static bool makesMatrix(const aprt_gemm_desc &desc, const int64_t *strides,
                        int64_t d, int64_t columns) {
  int64_t last = strides[desc.batch_rank + 1];
  return last == 1 || columns == 1 ? strides[d] >= columns
                                   : strides[d] == 1 && last >= desc.batch[d];
}

/// Makes the innermost batch dimension part of M if it continues it.
static bool foldBatch(aprt_gemm_desc &desc) {
  int64_t r = desc.batch_rank;
  if (r == 0 || desc.b_strides[r - 1] != 0)
    return false;
  int64_t d = r - 1;
  if (desc.m == 1) { // the batch takes the place of M
    if (!makesMatrix(desc, desc.a_strides, d, desc.k) ||
        !makesMatrix(desc, desc.c_strides, d, desc.n))
      return false;
    desc.a_strides[r] = desc.a_strides[d];
    desc.c_strides[r] = desc.c_strides[d];
  } else if (desc.a_strides[d] != desc.m * desc.a_strides[r] ||
             desc.c_strides[d] != desc.m * desc.c_strides[r]) {
    return false;
  }
  desc.m *= desc.batch[d];
  dropBatch(desc, d);
  return true;
}

aprt_gemm_desc normalizeGemm(const aprt_gemm_desc &desc) {
  aprt_gemm_desc result = desc;
  for (int64_t d = result.batch_rank - 1; d >= 0; --d)
    if (result.batch[d] == 1)
      dropBatch(result, d);
  while (foldBatch(result))
    ;
  return result;
}

aprt_gemm_desc joinBatches(const aprt_gemm_desc &desc) {
  aprt_gemm_desc result = desc;
  for (int64_t d = result.batch_rank - 1; d > 0; --d) {
    auto continues = [&](const int64_t *strides) {
      return strides[d - 1] == strides[d] * result.batch[d];
    };
    if (!continues(result.a_strides) || !continues(result.b_strides) ||
        !continues(result.c_strides))
      continue;
    result.batch[d] *= result.batch[d - 1];
    dropBatch(result, d - 1);
  }
  return result;
}

int64_t gemmBatches(const aprt_gemm_desc &desc) {
  int64_t count = 1;
  for (int64_t d = 0; d < desc.batch_rank; ++d)
    count *= desc.batch[d];
  return count;
}

int64_t gemmOffset(const aprt_gemm_desc &desc, const int64_t *strides,
                   int64_t batch) {
  int64_t offset = 0;
  for (int64_t d = desc.batch_rank - 1; d >= 0; --d) {
    offset += batch % desc.batch[d] * strides[d];
    batch /= desc.batch[d];
  }
  return offset;
}

int64_t distinctMatrix(const aprt_gemm_desc &desc, int64_t batch) {
  int64_t index = 0, scale = 1;
  for (int64_t d = desc.batch_rank - 1; d >= 0; --d) {
    if (desc.b_strides[d] != 0) {
      index += batch % desc.batch[d] * scale;
      scale *= desc.batch[d];
    }
    batch /= desc.batch[d];
  }
  return index;
}

int64_t distinctMatrices(const aprt_gemm_desc &desc) {
  int64_t count = 1;
  for (int64_t d = 0; d < desc.batch_rank; ++d)
    count *= desc.b_strides[d] != 0 ? desc.batch[d] : 1;
  return count;
}

int64_t distinctOffset(const aprt_gemm_desc &desc, int64_t index) {
  int64_t offset = 0;
  for (int64_t d = desc.batch_rank - 1; d >= 0; --d) {
    if (desc.b_strides[d] == 0)
      continue;
    offset += index % desc.batch[d] * desc.b_strides[d];
    index /= desc.batch[d];
  }
  return offset;
}

aprt_gemm_desc withDenseB(const aprt_gemm_desc &desc, bool transposed) {
  aprt_gemm_desc result = desc;
  int64_t stride = desc.k * desc.n, r = desc.batch_rank;
  for (int64_t d = r - 1; d >= 0; --d) {
    if (desc.b_strides[d] == 0)
      continue;
    result.b_strides[d] = stride;
    stride *= desc.batch[d];
  }
  result.b_strides[r] = transposed ? 1 : desc.n;
  result.b_strides[r + 1] = transposed ? desc.k : 1;
  return result;
}

} // namespace autopar::runtime
