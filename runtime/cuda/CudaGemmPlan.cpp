//===- CudaGemmPlan.cpp - One GEMM on cuBLASLt ----------------------------===//

#include "CudaGemmPlan.h"

#include "../core/DataType.h"

#include <algorithm>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// What the library has
//===----------------------------------------------------------------------===//

static bool dataType(int64_t dtype, cudaDataType &type) {
  switch (dtype) {
  case APRT_F16:
    return type = CUDA_R_16F, true;
  case APRT_BF16:
    return type = CUDA_R_16BF, true;
  case APRT_F32:
    return type = CUDA_R_32F, true;
  case APRT_F64:
    return type = CUDA_R_64F, true;
  }
  return false;
}

/// False for an activation that the library has no epilogue for.
static bool epilogueOf(const aprt_gemm_desc &desc, uint32_t &epilogue) {
  switch (desc.activation) {
  case APRT_ACT_NONE:
    epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    break;
  case APRT_ACT_RELU:
    epilogue = CUBLASLT_EPILOGUE_RELU;
    break;
  case APRT_ACT_GELU_TANH:
    epilogue = CUBLASLT_EPILOGUE_GELU;
    break;
  default:
    return false;
  }
  if (desc.bias) // the default is the absence of the others
    epilogue = (epilogue & ~uint32_t(CUBLASLT_EPILOGUE_DEFAULT)) |
               CUBLASLT_EPILOGUE_BIAS;
  // Our addend comes after the activation, the library's before; doubles have
  // no epilogue at all.
  return (!desc.addend || desc.activation == APRT_ACT_NONE) &&
         (desc.dtype != APRT_F64 || epilogue == CUBLASLT_EPILOGUE_DEFAULT);
}

static Status refuse(const aprt_gemm_desc &desc, const char *what) {
  return Status::error(
      std::string("cuBLASLt has no ") + what + " for a " +
      dtypeName(desc.dtype) + " GEMM of m=" + std::to_string(desc.m) + " n=" +
      std::to_string(desc.n) + " k=" + std::to_string(desc.k) + " with bias " +
      std::to_string(desc.bias) + ", addend " + std::to_string(desc.addend) +
      ", activation " + std::to_string(desc.activation));
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

Status CudaGemmPlan::createOperation(bool tf32) {
  cudaDataType type;
  uint32_t epilogue;
  if (!dataType(desc.dtype, type) || !epilogueOf(desc, epilogue))
    return refuse(desc, "type or epilogue");
  bool isDouble = desc.dtype == APRT_F64;
  cublasComputeType_t compute = isDouble ? CUBLAS_COMPUTE_64F
                                : tf32 && desc.dtype == APRT_F32
                                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                                    : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t made = nullptr;
  APRT_CUBLASLT(library, cublasLtMatmulDescCreate, &made, compute,
                isDouble ? CUDA_R_64F : CUDA_R_32F);
  operation = {made, {library.cublasLtMatmulDescDestroy}};
  APRT_CUBLASLT(library, cublasLtMatmulDescSetAttribute, made,
                CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
  return Status::success();
}

/// A matrix of the library: element (i, j) is at i * rowStride + j *
/// columnStride, one of which is 1.
Status CudaGemmPlan::createLayout(int64_t rows, int64_t columns,
                                  int64_t rowStride, int64_t columnStride,
                                  int64_t batchStride,
                                  cublasOperation_t &transpose,
                                  Owned<cublasLtMatrixLayout_t> &layout) {
  // The stride of a dimension of size 1 means nothing.
  bool plain = rowStride == 1 || rows == 1;
  bool transposed = !plain && (columnStride == 1 || columns == 1);
  if (transposed) {
    std::swap(rows, columns);
    std::swap(rowStride, columnStride);
  }
  int64_t leading = columns == 1 ? rows : columnStride;
  if ((!plain && !transposed) || leading < rows)
    return refuse(desc, "layout");
  transpose = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  cudaDataType type;
  if (!dataType(desc.dtype, type))
    return refuse(desc, "type");
  cublasLtMatrixLayout_t made = nullptr;
  APRT_CUBLASLT(library, cublasLtMatrixLayoutCreate, &made, type,
                uint64_t(rows), uint64_t(columns), leading);
  layout = {made, {library.cublasLtMatrixLayoutDestroy}};
  if (matrices == 1)
    return Status::success();
  int32_t count = int32_t(matrices);
  APRT_CUBLASLT(library, cublasLtMatrixLayoutSetAttribute, made,
                CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
  APRT_CUBLASLT(library, cublasLtMatrixLayoutSetAttribute, made,
                CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStride,
                sizeof(batchStride));
  return Status::success();
}

Status CudaGemmPlan::createLayouts() {
  int64_t r = desc.batch_rank;
  cublasOperation_t left, right, result;
  APRT_TRY(createLayout(desc.n, desc.k, desc.b_strides[r + 1],
                        desc.b_strides[r], bStep, left, bLayout));
  APRT_TRY(createLayout(desc.k, desc.m, desc.a_strides[r + 1],
                        desc.a_strides[r], aStep, right, aLayout));
  APRT_TRY(createLayout(desc.n, desc.m, desc.c_strides[r + 1],
                        desc.c_strides[r], cStep, result, cLayout));
  if (result != CUBLAS_OP_N)
    return refuse(desc, "transposed result");
  int32_t transposes[] = {left, right};
  APRT_CUBLASLT(library, cublasLtMatmulDescSetAttribute, operation.get(),
                CUBLASLT_MATMUL_DESC_TRANSA, &transposes[0], sizeof(int32_t));
  APRT_CUBLASLT(library, cublasLtMatmulDescSetAttribute, operation.get(),
                CUBLASLT_MATMUL_DESC_TRANSB, &transposes[1], sizeof(int32_t));
  return Status::success();
}

/// Gives the library the largest batch dimension; the host loops over others.
void CudaGemmPlan::takeStridedBatch() {
  outer = desc = joinBatches(desc);
  int64_t r = desc.batch_rank;
  if (r == 0)
    return;
  int64_t taken = std::max_element(desc.batch, desc.batch + r) - desc.batch;
  matrices = desc.batch[taken];
  aStep = desc.a_strides[taken];
  bStep = desc.b_strides[taken];
  cStep = desc.c_strides[taken];
  dropBatch(outer, taken);
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

Status CudaGemmPlan::chooseAlgorithm(cublasLtHandle_t handle,
                                     const GemmAlignments &alignments) {
  cublasLtMatmulPreference_t made = nullptr;
  APRT_CUBLASLT(library, cublasLtMatmulPreferenceCreate, &made);
  Owned<cublasLtMatmulPreference_t> preference{
      made, {library.cublasLtMatmulPreferenceDestroy}};
  // Sums along k stay in float for 16-bit results.
  bool narrow = desc.dtype == APRT_F16 || desc.dtype == APRT_BF16;
  uint32_t schemes = narrow ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                            : CUBLASLT_REDUCTION_SCHEME_MASK;
  uint64_t most = mostWorkspaceBytes;
  struct Preference {
    cublasLtMatmulPreferenceAttributes_t name;
    int64_t alignment;
  };
  APRT_CUBLASLT(library, cublasLtMatmulPreferenceSetAttribute, made,
                CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most));
  APRT_CUBLASLT(library, cublasLtMatmulPreferenceSetAttribute, made,
                CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                sizeof(schemes));
  for (const Preference &row : std::initializer_list<Preference>{
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.b},
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.a},
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            addendMode == separateAddend ? alignments.addend : alignments.c},
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.c}}) {
    uint32_t alignment = uint32_t(row.alignment);
    APRT_CUBLASLT(library, cublasLtMatmulPreferenceSetAttribute, made, row.name,
                  &alignment, sizeof(alignment));
  }
  if (desc.bias) { // its value says how it is aligned, no more
    const void *bias = reinterpret_cast<const void *>(alignments.bias);
    APRT_CUBLASLT(library, cublasLtMatmulDescSetAttribute, operation.get(),
                  CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
  }
  constexpr int mostResults = 8;
  cublasLtMatmulHeuristicResult_t results[mostResults] = {};
  int found = 0;
  cublasStatus_t status = library.cublasLtMatmulAlgoGetHeuristic(
      handle, operation.get(), bLayout.get(), aLayout.get(), cLayout.get(),
      cLayout.get(), made, mostResults, results, &found);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    APRT_TRY(library.check(status, "cublasLtMatmulAlgoGetHeuristic"));
  // Best first; each says whether it can be used.
  for (int i = 0; i < found && status == CUBLAS_STATUS_SUCCESS; ++i) {
    if (results[i].state != CUBLAS_STATUS_SUCCESS ||
        results[i].workspaceSize > most)
      continue;
    algorithm = results[i].algo;
    bytes = results[i].workspaceSize;
    return Status::success();
  }
  return refuse(desc, "algorithm");
}

Status CudaGemmPlan::create(cublasLtHandle_t handle, bool tf32,
                            const GemmAlignments &alignments) {
  takeStridedBatch();
  APRT_TRY(createOperation(tf32));
  APRT_TRY(createLayouts());
  return chooseAlgorithm(handle, alignments);
}

Status CudaGemmPlan::run(cublasLtHandle_t handle, const GemmOperands &operands,
                         void *workspace, CUstream stream) const {
  if (desc.bias)
    APRT_CUBLASLT(library, cublasLtMatmulDescSetAttribute, operation.get(),
                  CUBLASLT_MATMUL_DESC_BIAS_POINTER, &operands.bias,
                  sizeof(operands.bias));
  float one = 1, beta = addendMode == noAddend ? 0 : 1;
  double wideOne = 1, wideBeta = beta;
  bool wide = desc.dtype == APRT_F64;
  auto at = [&](const void *base, const int64_t *strides, int64_t i) {
    return static_cast<const char *>(base) +
           gemmOffset(outer, strides, i) * elementBytes(desc.dtype);
  };
  for (int64_t i = 0; i < gemmBatches(outer); ++i) {
    char *c = const_cast<char *>(at(operands.c, outer.c_strides, i));
    const void *addend = addendMode == separateAddend
                             ? at(operands.addend, outer.c_strides, i)
                             : c;
    APRT_CUBLASLT(library, cublasLtMatmul, handle, operation.get(),
                  wide ? static_cast<const void *>(&wideOne) : &one,
                  at(operands.b, outer.b_strides, i), bLayout.get(),
                  at(operands.a, outer.a_strides, i), aLayout.get(),
                  wide ? static_cast<const void *>(&wideBeta) : &beta, addend,
                  cLayout.get(), c, cLayout.get(), &algorithm, workspace, bytes,
                  stream);
  }
  return Status::success();
}

} // namespace autopar::runtime
