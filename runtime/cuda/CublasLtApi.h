//===- CublasLtApi.h - cuBLASLt, loaded at run time -------------*- C++ -*-===//
//
// Types, constants and functions of cuBLASLt that the runtime uses, with the
// names and values of cublasLt.h 12 and 13, so that no CUDA header is needed to
// build. Every call goes through one CublasLtApi: filled from libcublasLt by
// load(), or by bindEmulated() with the emulated GPU's functions.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUBLASLTAPI_H
#define AUTOPAR_RUNTIME_CUDA_CUBLASLTAPI_H

#include "../core/Status.h"
#include "DriverApi.h"

#include <cstddef>
#include <cstdint>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using cublasLtHandle_t = struct cublasLtContext *;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t *;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t *;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t *;

enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};

enum cudaDataType : int {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14
};

enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};

enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

enum cublasLtMatrixLayoutAttribute_t : int {
  CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
  CUBLASLT_MATRIX_LAYOUT_COLS = 3,
  CUBLASLT_MATRIX_LAYOUT_LD = 4,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
  CUBLASLT_MATRIX_LAYOUT_BATCH_MODE = 8 // of newer libraries
};

/// Of newer libraries. Pointer array: operands are addresses, in the GPU's
/// memory, of arrays of each matrix's address.
enum cublasLtBatchMode_t : int {
  CUBLASLT_BATCH_MODE_STRIDED = 0,
  CUBLASLT_BATCH_MODE_POINTER_ARRAY = 1
};

enum cublasLtOrder_t : int { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 };

enum cublasLtMatmulDescAttributes_t : int {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,
  CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
};

/// Bits: activation (ReLU 2, tanh-approximated GELU 32) and bias (4).
enum cublasLtEpilogue_t : int {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36
};

enum cublasLtMatmulPreferenceAttributes_t : int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};

/// How a GEMM that is cut along k is summed up.
enum cublasLtReductionScheme_t : int {
  CUBLASLT_REDUCTION_SCHEME_NONE = 0,
  CUBLASLT_REDUCTION_SCHEME_INPLACE = 1,
  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
  CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE = 4,
  CUBLASLT_REDUCTION_SCHEME_MASK = 7
};

struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// X(result, name of the exported symbol, parameters): every function of
/// cuBLASLt that the runtime calls.
#define APRT_CUBLASLT_FUNCTIONS(X)                                             \
  X(size_t, cublasLtGetVersion, ())                                            \
  X(size_t, cublasLtGetCudartVersion, ())                                      \
  X(const char *, cublasLtGetStatusName, (cublasStatus_t status))              \
  X(const char *, cublasLtGetStatusString, (cublasStatus_t status))            \
  X(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * handle))               \
  X(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t handle))                \
  X(cublasStatus_t, cublasLtMatmulDescCreate,                                  \
    (cublasLtMatmulDesc_t * operation, cublasComputeType_t computeType,        \
     cudaDataType scaleType))                                                  \
  X(cublasStatus_t, cublasLtMatmulDescDestroy,                                 \
    (cublasLtMatmulDesc_t operation))                                          \
  X(cublasStatus_t, cublasLtMatmulDescSetAttribute,                            \
    (cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, \
     const void *value, size_t bytes))                                         \
  X(cublasStatus_t, cublasLtMatrixLayoutCreate,                                \
    (cublasLtMatrixLayout_t * layout, cudaDataType type, uint64_t rows,        \
     uint64_t columns, int64_t leading))                                       \
  X(cublasStatus_t, cublasLtMatrixLayoutDestroy,                               \
    (cublasLtMatrixLayout_t layout))                                           \
  X(cublasStatus_t, cublasLtMatrixLayoutSetAttribute,                          \
    (cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, \
     const void *value, size_t bytes))                                         \
  X(cublasStatus_t, cublasLtMatmulPreferenceCreate,                            \
    (cublasLtMatmulPreference_t * preference))                                 \
  X(cublasStatus_t, cublasLtMatmulPreferenceDestroy,                           \
    (cublasLtMatmulPreference_t preference))                                   \
  X(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute,                      \
    (cublasLtMatmulPreference_t preference,                                    \
     cublasLtMatmulPreferenceAttributes_t attribute, const void *value,        \
     size_t bytes))                                                            \
  X(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,                            \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,                  \
     cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,                       \
     cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,                       \
     cublasLtMatmulPreference_t preference, int requested,                     \
     cublasLtMatmulHeuristicResult_t *results, int *returned))                 \
  X(cublasStatus_t, cublasLtMatmul,                                            \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,                  \
     const void *alpha, const void *a, cublasLtMatrixLayout_t aLayout,         \
     const void *b, cublasLtMatrixLayout_t bLayout, const void *beta,          \
     const void *c, cublasLtMatrixLayout_t cLayout, void *d,                   \
     cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *algorithm,    \
     void *workspace, size_t workspaceBytes, CUstream stream))

class CublasLtApi {
public:
  /// Oldest version that is accepted, as cublasLtGetVersion counts: 12.0.
  static constexpr size_t minimumVersion = 120000;

  /// Opens libcublasLt.so.13 or .12, whichever the driver can run (its version
  /// as cuDriverGetVersion counts, 0: any), and resolves every function. A
  /// failure says what is missing and what to install.
  Status load(int driverVersion = 0);

  /// Success, or a message of `call` (name of the function) with the library's
  /// name and text of the error.
  Status check(cublasStatus_t result, const char *call) const;

#define APRT_DECLARE(result, name, parameters)                                 \
  result(*name) parameters = nullptr;
  APRT_CUBLASLT_FUNCTIONS(APRT_DECLARE)
#undef APRT_DECLARE

  std::string file; // that load() opened
};

/// "13.2.1" of a version as cublasLtGetVersion counts.
std::string cublasLtVersionText(size_t version);

} // namespace autopar::runtime

/// Calls `function` of the CublasLtApi `api`; a failure is returned from the
/// enclosing function as its Status.
#define APRT_CUBLASLT(api, function, ...)                                      \
  APRT_TRY((api).check((api).function(__VA_ARGS__), #function))

#endif // AUTOPAR_RUNTIME_CUDA_CUBLASLTAPI_H
