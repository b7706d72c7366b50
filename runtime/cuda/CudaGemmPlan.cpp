//===- CudaGemmPlan.cpp - One GEMM on cuBLASLt ----------------------------===//

#include "CudaGemmPlan.h"

#include "../core/DataType.h"

#include <algorithm>
#include <vector>

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
                                  Owned<cublasLtMatrixLayout_t> &layout,
                                  bool &isKnown) {
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
  if (byAddress) { // which older libraries do not know
    uint32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    isKnown &= library.cublasLtMatrixLayoutSetAttribute(
                   made, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode,
                   sizeof(mode)) == CUBLAS_STATUS_SUCCESS;
    return Status::success();
  }
  APRT_CUBLASLT(library, cublasLtMatrixLayoutSetAttribute, made,
                CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStride,
                sizeof(batchStride));
  return Status::success();
}

/// `areKnown`: the library has such batches.
Status CudaGemmPlan::createLayouts(bool &areKnown) {
  int64_t r = desc.batch_rank;
  cublasOperation_t left, right, result;
  APRT_TRY(createLayout(desc.n, desc.k, desc.b_strides[r + 1],
                        desc.b_strides[r], bStep, left, bLayout, areKnown));
  APRT_TRY(createLayout(desc.k, desc.m, desc.a_strides[r + 1],
                        desc.a_strides[r], aStep, right, aLayout, areKnown));
  APRT_TRY(createLayout(desc.n, desc.m, desc.c_strides[r + 1],
                        desc.c_strides[r], cStep, result, cLayout, areKnown));
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
  byAddress = false;
  outer = desc;
  matrices = 1;
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

/// One call for a batch of several strides, such as the heads of an attention:
/// a loop of small calls leaves most of the GPU idle.
void CudaGemmPlan::takeBatchByAddress() {
  byAddress = true;
  outer = desc;
  matrices = gemmBatches(desc);
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

Status CudaGemmPlan::chooseAlgorithm(cublasLtHandle_t handle,
                                     const GemmAlignments &alignments,
                                     bool &isFound) {
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
  // Libraries may know batches by address and have no such GEMM.
  if (status != CUBLAS_STATUS_NOT_SUPPORTED &&
      !(byAddress && status == CUBLAS_STATUS_INVALID_VALUE))
    APRT_TRY(library.check(status, "cublasLtMatmulAlgoGetHeuristic"));
  // Best first; each says whether it can be used.
  for (int i = 0; i < found && status == CUBLAS_STATUS_SUCCESS; ++i) {
    if (results[i].state != CUBLAS_STATUS_SUCCESS ||
        results[i].workspaceSize > most)
      continue;
    algorithm = results[i].algo;
    bytes = results[i].workspaceSize;
    isFound = true;
    break;
  }
  return Status::success();
}

Status CudaGemmPlan::tryBatch(cublasLtHandle_t handle,
                              const GemmAlignments &alignments, bool &isFound) {
  bool areKnown = true;
  APRT_TRY(createLayouts(areKnown));
  if (!areKnown)
    return Status::success();
  return chooseAlgorithm(handle, alignments, isFound);
}

Status CudaGemmPlan::create(cublasLtHandle_t handle, bool tf32,
                            const GemmAlignments &alignments) {
  desc = joinBatches(desc);
  APRT_TRY(createOperation(tf32));
  bool isFound = false;
  if (desc.batch_rank > 1 && gemmBatches(desc) <= INT32_MAX) {
    takeBatchByAddress();
    APRT_TRY(tryBatch(handle, alignments, isFound));
  }
  if (!isFound) {
    takeStridedBatch();
    APRT_TRY(tryBatch(handle, alignments, isFound));
  }
  return isFound ? Status::success() : refuse(desc, "algorithm");
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static GemmOperands operandsOf(const aprt_gemm_desc &outer, int64_t i,
                               const GemmOperands &whole) {
  auto at = [&](const void *base, const int64_t *strides) -> const void * {
    return base ? static_cast<const char *>(base) +
                      gemmOffset(outer, strides, i) * elementBytes(outer.dtype)
                : nullptr;
  };
  GemmOperands one = whole;
  one.a = at(whole.a, outer.a_strides);
  one.b = at(whole.b, outer.b_strides);
  one.addend = at(whole.addend, outer.c_strides);
  one.c = const_cast<void *>(at(whole.c, outer.c_strides));
  return one;
}

/// Puts the addresses of all matrices into the GPU's memory, once.
Status CudaGemmPlan::findAddresses(const GemmOperands &operands,
                                   CudaContext &context, void *&found) {
  if (auto known = addresses.find(operands); known != addresses.end()) {
    found = known->second;
    return Status::success();
  }
  if (context.isCapturing())
    return Status::error("a batch's matrices have moved since the last step");
  std::vector<CUdeviceptr> host(size_t(4 * matrices));
  for (int64_t i = 0; i < matrices; ++i) {
    GemmOperands one = operandsOf(outer, i, operands);
    const void *of[] = {one.b, one.a, one.addend, one.c};
    for (int64_t j = 0; j < 4; ++j)
      host[size_t(j * matrices + i)] = deviceAddress(of[j]);
  }
  size_t size = host.size() * sizeof(CUdeviceptr);
  APRT_TRY(context.allocate(int64_t(size), "addresses of a batch's matrices",
                            context.memory.workspace, found));
  APRT_CUDA(context.driver, cuMemcpyHtoDAsync_v2, deviceAddress(found),
            host.data(), size, context.currentStream());
  APRT_TRY(context.waitForAll()); // `host` ends here
  addresses.emplace(operands, found);
  return Status::success();
}

void CudaGemmPlan::release(CudaContext &context) {
  for (auto &[operands, array] : addresses)
    (void)context.release(array);
  addresses.clear();
}

Status CudaGemmPlan::call(cublasLtHandle_t handle, const GemmOperands &operands,
                          CudaContext &context) const {
  float one = 1, beta = addendMode == noAddend ? 0 : 1;
  double wideOne = 1, wideBeta = beta;
  bool wide = desc.dtype == APRT_F64;
  const void *addend =
      addendMode == separateAddend ? operands.addend : operands.c;
  APRT_CUBLASLT(library, cublasLtMatmul, handle, operation.get(),
                wide ? static_cast<const void *>(&wideOne) : &one, operands.b,
                bLayout.get(), operands.a, aLayout.get(),
                wide ? static_cast<const void *>(&wideBeta) : &beta, addend,
                cLayout.get(), operands.c, cLayout.get(), &algorithm,
                context.workspace(), bytes, context.currentStream());
  return Status::success();
}

Status CudaGemmPlan::run(cublasLtHandle_t handle, const GemmOperands &operands,
                         CudaContext &context) {
  if (desc.bias)
    APRT_CUBLASLT(library, cublasLtMatmulDescSetAttribute, operation.get(),
                  CUBLASLT_MATMUL_DESC_BIAS_POINTER, &operands.bias,
                  sizeof(operands.bias));
  if (byAddress) {
    void *found = nullptr;
    APRT_TRY(findAddresses(operands, context, found));
    auto *arrays = static_cast<CUdeviceptr *>(found);
    GemmOperands given = operands;
    given.b = arrays;
    given.a = arrays + matrices;
    given.addend = arrays + 2 * matrices;
    given.c = arrays + 3 * matrices;
    return call(handle, given, context);
  }
  for (int64_t i = 0; i < gemmBatches(outer); ++i)
    APRT_TRY(call(handle, operandsOf(outer, i, operands), context));
  return Status::success();
}

} // namespace autopar::runtime
