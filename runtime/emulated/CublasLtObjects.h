//===- CublasLtObjects.h - Objects of the emulated cuBLASLt -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_CUBLASLTOBJECTS_H
#define AUTOPAR_RUNTIME_EMULATED_CUBLASLTOBJECTS_H

#include "LiveObjects.h"
#include "Matmul.h"

#include <string>

namespace autopar::runtime::emulated {

struct CublasLtContext {};

struct MatmulPreference {
  uint64_t workspaceBytes = 0;
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignments[4] = {256, 256, 256, 256}; // of A, B, C, D
};

/// The emulated library: what is alive, and the text of the last refusal.
struct CublasLtState {
  LiveObjects<CublasLtContext> contexts;
  LiveObjects<MatrixLayout> layouts;
  LiveObjects<MatmulOperation> operations;
  LiveObjects<MatmulPreference> preferences;
  std::string lastText; // of the last refusal
};

CublasLtState &cublasLtState();

/// Keeps the text for cublasLtGetStatusString.
cublasStatus_t refuseCublasLt(cublasStatus_t status, const std::string &text);

/// cublasLtMatmulAlgoGetHeuristic and cublasLtMatmul.
cublasStatus_t findMatmul(cublasLtHandle_t handle,
                          cublasLtMatmulDesc_t operation,
                          cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                          cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                          cublasLtMatmulPreference_t preference, int requested,
                          cublasLtMatmulHeuristicResult_t *results,
                          int *returned);
cublasStatus_t
callMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
           const void *alpha, const void *a, cublasLtMatrixLayout_t aLayout,
           const void *b, cublasLtMatrixLayout_t bLayout, const void *beta,
           const void *c, cublasLtMatrixLayout_t cLayout, void *d,
           cublasLtMatrixLayout_t dLayout,
           const cublasLtMatmulAlgo_t *algorithm, void *workspace,
           size_t workspaceBytes, CUstream stream);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_CUBLASLTOBJECTS_H
