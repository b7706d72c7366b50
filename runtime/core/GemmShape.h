//===- GemmShape.h - Descriptions of GEMMs ----------------------*- C++ -*-===//
//
// Every device checks and simplifies an aprt_gemm_desc with these functions
// before it looks for a library's own form of the GEMM.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_GEMMSHAPE_H
#define AUTOPAR_RUNTIME_CORE_GEMMSHAPE_H

#include "Status.h"
#include "autopar/runtime.h"

#include <cstddef>

namespace autopar::runtime {

/// The operands of one call. B may be null when its slot was packed.
struct GemmOperands {
  const void *a = nullptr;
  const void *b = nullptr;
  const void *bias = nullptr;
  const void *addend = nullptr;
  void *c = nullptr;
};

/// The way in which the addend reaches the result.
enum AddendMode : int64_t {
  noAddend = 0,
  separateAddend = 1, // another tensor with C's strides
  addendInC = 2       // C itself
};
AddendMode addendMode(const aprt_gemm_desc &desc, const GemmOperands &operands);

/// Checks that a description is valid and its slot is below `slots`.
Status checkGemm(const aprt_gemm_desc &desc, size_t slots);

/// Returns the description with its unused words set to zero, so that equal
/// GEMMs have equal words.
aprt_gemm_desc canonicalGemm(const aprt_gemm_desc &desc);

/// Returns a description with as few batch dimensions as possible. Those of
/// size 1 are removed, and those that continue M become part of it.
aprt_gemm_desc normalizeGemm(const aprt_gemm_desc &desc);

/// Merges neighbouring batch dimensions that form one dimension in A, B and C.
aprt_gemm_desc joinBatches(const aprt_gemm_desc &desc);

/// Removes batch dimension `dim` and moves the later strides up.
void dropBatch(aprt_gemm_desc &desc, int64_t dim);

/// Return the number of matrices in the batch, and the offset of one of them.
int64_t gemmBatches(const aprt_gemm_desc &desc);
int64_t gemmOffset(const aprt_gemm_desc &desc, const int64_t *strides,
                   int64_t batch);

/// Returns the index of the distinct matrix of B that a batch index uses.
int64_t distinctMatrix(const aprt_gemm_desc &desc, int64_t batch);
int64_t distinctMatrices(const aprt_gemm_desc &desc);
/// Returns the offset in elements of distinct matrix `index` in B.
int64_t distinctOffset(const aprt_gemm_desc &desc, int64_t index);

/// Returns the description with B dense and its distinct matrices consecutive:
/// [matrices, k, n], or transposed [matrices, n, k].
aprt_gemm_desc withDenseB(const aprt_gemm_desc &desc, bool transposed);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_GEMMSHAPE_H
