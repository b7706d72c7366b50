//===- MatmulCall.cpp - GEMMs that the emulated cuBLASLt is asked for -----===//

#include "CublasLtObjects.h"
#include "Planted.h"
#include "RangeOverlap.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime::emulated {

namespace {

/// What is inside a cublasLtMatmulAlgo_t.
struct Algorithm {
  static constexpr uint64_t magicNumber = 0x474c414c45445041;
  uint64_t magic = magicNumber;
  uint64_t workspaceBytes = 0;
  uint64_t problem = 0; // which one it was found for
  uint32_t alignments[4] = {};
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

cublasStatus_t refuse(cublasStatus_t status, const std::string &text) {
  return refuseCublasLt(status, text);
}
cublasStatus_t invalid(const std::string &text) {
  return refuse(CUBLAS_STATUS_INVALID_VALUE, text);
}

/// The GEMM that live descriptors describe; fails as the library does.
cublasStatus_t describe(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        Matmul &matmul) {
  CublasLtState &lib = cublasLtState();
  if (!lib.contexts.find(handle))
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is not alive");
  MatmulOperation *described = lib.operations.find(operation);
  if (!described)
    return invalid("the operation is not alive");
  matmul.operation = *described;
  cublasLtMatrixLayout_t handles[] = {a, b, c, d};
  MatrixLayout *results[] = {&matmul.a, &matmul.b, &matmul.c, &matmul.d};
  for (int i = 0; i < 4; ++i) {
    MatrixLayout *layout = lib.layouts.find(handles[i]);
    if (!layout)
      return invalid(std::string("the layout of ") + "ABCD"[i] +
                     " is not alive");
    *results[i] = *layout;
  }
  std::string text;
  cublasStatus_t status = checkMatmul(matmul, text);
  return status == CUBLAS_STATUS_SUCCESS ? status : refuse(status, text);
}

/// A number for all that an algorithm is found for.
uint64_t problemOf(const Matmul &p) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto add = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  const MatmulOperation &operation = p.operation;
  for (uint64_t word :
       {uint64_t(operation.compute), uint64_t(operation.transposeA),
        uint64_t(operation.transposeB), uint64_t(operation.epilogue)})
    add(word);
  for (const MatrixLayout *layout : {&p.a, &p.b, &p.c, &p.d})
    for (uint64_t word :
         {uint64_t(layout->type), uint64_t(layout->order), layout->rows,
          layout->columns, uint64_t(layout->leading), uint64_t(layout->batches),
          uint64_t(layout->batchStride), uint64_t(layout->mode)})
      add(word);
  return hash;
}

/// Long sums of small results are cut along k, in the workspace.
uint64_t workspaceFor(const Matmul &p, const MatmulPreference &preference) {
  constexpr uint64_t longSum = 512, smallResult = 1 << 16, cuts = 2;
  uint64_t results = p.d.rows * p.d.columns * uint64_t(p.d.batches);
  uint64_t bytes = results * 4 * cuts;
  bool cut = p.depth() >= longSum && results <= smallResult &&
             (preference.schemes & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) &&
             bytes <= preference.workspaceBytes;
  return cut ? bytes : 0;
}

/// Whether all matrices are as aligned as the algorithm was told.
cublasStatus_t checkAlignment(const Algorithm &algorithm, const Matmul &matmul,
                              const MatmulOperands &operands) {
  const MatrixLayout *layouts[] = {&matmul.a, &matmul.b, &matmul.c, &matmul.d};
  const void *bases[] = {operands.a, operands.b, operands.c, operands.d};
  for (int i = 0; i < 4; ++i) {
    bool isRead = i != 2 || operands.beta != 0 || !layouts[i]->byAddress();
    int64_t places = layouts[i]->byAddress() ? matmul.d.batches : 1;
    for (int64_t j = 0; isRead && j < places; ++j)
      if (matrixAddress(*layouts[i], bases[i], j) %
          std::max(1u, algorithm.alignments[i]))
        return invalid(std::string("matrix ") + "ABCD"[i] +
                       " is not aligned to the " +
                       std::to_string(algorithm.alignments[i]) +
                       " bytes of the algorithm's preference");
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Matrices of D are written while the others are read, and each other too.
/// Too many pairs are not looked at: races with other work are found anyway.
cublasStatus_t checkOverlap(const MatmulRanges &ranges) {
  constexpr size_t kMostPairs = 1 << 20;
  if (ranges.written.size() * (ranges.read.size() + ranges.written.size()) >
      kMostPairs)
    return CUBLAS_STATUS_SUCCESS;
  for (size_t i = 0; i < ranges.written.size(); ++i) {
    for (const Range &read : ranges.read)
      if (rangesOverlap(read, ranges.written[i]))
        return invalid(std::string("D overlaps ") + read.name);
    for (size_t j = 0; j < i; ++j)
      if (rangesOverlap(ranges.written[j], ranges.written[i]))
        return invalid("matrices of D overlap");
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t checkCall(const Matmul &matmul, const MatmulOperands &operands,
                         const cublasLtMatmulAlgo_t *given,
                         const void *workspace, size_t workspaceBytes,
                         CUstream stream, Algorithm &algorithm) {
  if (!given)
    return invalid("no algorithm: the heuristic must have found one");
  std::memcpy(static_cast<void *>(&algorithm), given, sizeof(algorithm));
  if (algorithm.magic != Algorithm::magicNumber ||
      algorithm.problem != problemOf(matmul))
    return invalid("the algorithm is that of another GEMM");
  if (workspaceBytes < algorithm.workspaceBytes ||
      (algorithm.workspaceBytes && !workspace))
    return invalid(
        "the algorithm wants " + std::to_string(algorithm.workspaceBytes) +
        " bytes of workspace and gets " + std::to_string(workspaceBytes));
  if (reinterpret_cast<uintptr_t>(workspace) % 16)
    return invalid("the workspace is not aligned to 16 bytes");
  if (!operands.a || !operands.b || !operands.d ||
      (!operands.c && operands.beta != 0) ||
      (!matmul.operation.bias && matmul.operation.hasBias()))
    return invalid("null pointer for a matrix or the bias");
  if (operands.c == operands.d &&
      problemOf({matmul.operation, matmul.a, matmul.b, matmul.d, matmul.d}) !=
          problemOf(matmul))
    return invalid("C and D are in one place with different layouts");
  if (!isStream(stream))
    return invalid("the stream is not alive");
  if (!addressesAreKnown(matmul, operands))
    return invalid("addresses of matrices are not in the GPU's memory yet");
  return checkAlignment(algorithm, matmul, operands);
}

double scalar(const Matmul &matmul, const void *value) {
  return matmul.operation.scale == CUDA_R_64F
             ? *static_cast<const double *>(value)
             : *static_cast<const float *>(value);
}

} // namespace

cublasStatus_t
findMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
           cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
           cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
           cublasLtMatmulPreference_t preferenceHandle, int requested,
           cublasLtMatmulHeuristicResult_t *results, int *returned) {
  MatmulPreference *preference =
      cublasLtState().preferences.find(preferenceHandle);
  if (!preference || requested < 1 || !results || !returned)
    return invalid("bad preference or place for results");
  *returned = 0;
  Matmul matmul;
  if (cublasStatus_t status = describe(handle, operation, a, b, c, d, matmul))
    return status;
  if (isPlanted(Planted::cublasStrided) && matmul.d.byAddress())
    return invalid("batches by address are refused, as a test asked for");
  if (int64_t status = planted(Planted::cublasHeuristic))
    return refuse(cublasStatus_t(status), "a refusal that a test asked for");
  if (isPlanted(Planted::cublasHeuristic))
    return CUBLAS_STATUS_SUCCESS; // that knows no algorithm
  Algorithm algorithm;
  algorithm.problem = problemOf(matmul);
  algorithm.workspaceBytes = workspaceFor(matmul, *preference);
  std::copy_n(preference->alignments, 4, algorithm.alignments);
  // The best one, and one that needs no workspace.
  for (; *returned < std::min(requested, 2); ++*returned) {
    cublasLtMatmulHeuristicResult_t &result = results[*returned];
    result = {};
    algorithm.workspaceBytes = *returned ? 0 : algorithm.workspaceBytes;
    std::memcpy(&result.algo, &algorithm, sizeof(algorithm));
    result.workspaceSize = algorithm.workspaceBytes;
    result.state = CUBLAS_STATUS_SUCCESS;
  }
  results[0].state = cublasStatus_t(planted(Planted::cublasFirst));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
callMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
           const void *alpha, const void *a, cublasLtMatrixLayout_t aLayout,
           const void *b, cublasLtMatrixLayout_t bLayout, const void *beta,
           const void *c, cublasLtMatrixLayout_t cLayout, void *d,
           cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *given,
           void *workspace, size_t workspaceBytes, CUstream stream) {
  Matmul matmul;
  if (cublasStatus_t status = describe(handle, operation, aLayout, bLayout,
                                       cLayout, dLayout, matmul))
    return status;
  if (!alpha || !beta)
    return invalid("null pointer for alpha or beta");
  MatmulOperands operands{
      a, b, c, d, scalar(matmul, alpha), scalar(matmul, beta)};
  Algorithm algorithm;
  if (cublasStatus_t status = checkCall(matmul, operands, given, workspace,
                                        workspaceBytes, stream, algorithm))
    return status;
  Work work;
  work.name = "cublasLtMatmul " + std::to_string(matmul.d.rows) + "x" +
              std::to_string(matmul.d.columns) + "x" +
              std::to_string(matmul.depth());
  MatmulRanges ranges = matmulRanges(matmul, operands);
  if (cublasStatus_t status = checkOverlap(ranges))
    return status;
  work.ranges = std::move(ranges.read);
  work.ranges.insert(work.ranges.end(), ranges.written.begin(),
                     ranges.written.end());
  if (algorithm.workspaceBytes)
    work.ranges.push_back({reinterpret_cast<CUdeviceptr>(workspace),
                           algorithm.workspaceBytes, accessWrite, "workspace"});
  work.body = [=] { runMatmul(matmul, operands); };
  if (enqueue(stream, std::move(work)) == CUDA_SUCCESS)
    return CUBLAS_STATUS_SUCCESS;
  return refuse(CUBLAS_STATUS_EXECUTION_FAILED, faultText());
}

} // namespace autopar::runtime::emulated
