//===- EmulatedCublasLt.cpp - cuBLASLt on the emulated GPU ----------------===//

#include "EmulatedCublasLt.h"

#include "CublasLtObjects.h"
#include "Planted.h"

#include <cstring>

namespace autopar::runtime::emulated {

CublasLtState &cublasLtState() {
  static CublasLtState state;
  return state;
}

cublasStatus_t refuseCublasLt(cublasStatus_t status, const std::string &text) {
  cublasLtState().lastText = text;
  return status;
}

namespace {

cublasStatus_t refuse(cublasStatus_t status, const std::string &text) {
  return refuseCublasLt(status, text);
}
cublasStatus_t invalid(const std::string &text) {
  return refuse(CUBLAS_STATUS_INVALID_VALUE, text);
}

//===----------------------------------------------------------------------===//
// Handles and descriptors
//===----------------------------------------------------------------------===//

/// The version that is emulated, as the library counts.
size_t getVersion() { return 130000; }

const char *statusName(cublasStatus_t status) {
  switch (status) {
#define APEMU_NAME(name)                                                       \
  case name:                                                                   \
    return #name;
    APEMU_NAME(CUBLAS_STATUS_SUCCESS)
    APEMU_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    APEMU_NAME(CUBLAS_STATUS_ALLOC_FAILED)
    APEMU_NAME(CUBLAS_STATUS_INVALID_VALUE)
    APEMU_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    APEMU_NAME(CUBLAS_STATUS_MAPPING_ERROR)
    APEMU_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    APEMU_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    APEMU_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    APEMU_NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef APEMU_NAME
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

const char *statusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success"
                                         : cublasLtState().lastText.c_str();
}

cublasStatus_t create(cublasLtHandle_t *handle) {
  if (!handle)
    return invalid("null pointer to a handle");
  *handle =
      reinterpret_cast<cublasLtHandle_t>(cublasLtState().contexts.create());
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroy(cublasLtHandle_t handle) {
  if (cublasLtState().contexts.destroy(handle))
    return CUBLAS_STATUS_SUCCESS;
  return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is not alive");
}

/// Stores an attribute's value if it has the size of the attribute.
template <typename Field>
cublasStatus_t store(Field &field, const void *value, size_t bytes) {
  if (!value || bytes != sizeof(field))
    return invalid("an attribute of " + std::to_string(sizeof(field)) +
                   " bytes is given " + std::to_string(bytes));
  std::memcpy(static_cast<void *>(&field), value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t createLayout(cublasLtMatrixLayout_t *made, cudaDataType type,
                            uint64_t rows, uint64_t columns, int64_t leading) {
  if (!made)
    return invalid("null pointer to a layout");
  MatrixLayout *layout = cublasLtState().layouts.create();
  layout->type = type;
  layout->rows = rows;
  layout->columns = columns;
  layout->leading = leading;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroyLayout(cublasLtMatrixLayout_t layout) {
  return cublasLtState().layouts.destroy(layout)
             ? CUBLAS_STATUS_SUCCESS
             : invalid("the matrix layout is not alive");
}

cublasStatus_t setLayout(cublasLtMatrixLayout_t handle,
                         cublasLtMatrixLayoutAttribute_t attribute,
                         const void *value, size_t bytes) {
  MatrixLayout *layout = cublasLtState().layouts.find(handle);
  if (!layout)
    return invalid("the matrix layout is not alive");
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_TYPE:
    return store(layout->type, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ORDER:
    return store(layout->order, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ROWS:
    return store(layout->rows, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_COLS:
    return store(layout->columns, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_LD:
    return store(layout->leading, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return store(layout->batches, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return store(layout->batchStride, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_BATCH_MODE:
    if (planted(Planted::cublasStrided) == 1)
      break; // as of an older library
    return store(layout->mode, value, bytes);
  }
  return invalid("unknown attribute of a matrix layout");
}

cublasStatus_t createOperation(cublasLtMatmulDesc_t *made,
                               cublasComputeType_t compute,
                               cudaDataType scale) {
  if (!made)
    return invalid("null pointer to an operation");
  MatmulOperation *operation = cublasLtState().operations.create();
  operation->compute = compute;
  operation->scale = scale;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(operation);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroyOperation(cublasLtMatmulDesc_t operation) {
  return cublasLtState().operations.destroy(operation)
             ? CUBLAS_STATUS_SUCCESS
             : invalid("the operation is not alive");
}

cublasStatus_t setOperation(cublasLtMatmulDesc_t handle,
                            cublasLtMatmulDescAttributes_t attribute,
                            const void *value, size_t bytes) {
  MatmulOperation *operation = cublasLtState().operations.find(handle);
  if (!operation)
    return invalid("the operation is not alive");
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
    return store(operation->compute, value, bytes);
  case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
    return store(operation->scale, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return store(operation->transposeA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return store(operation->transposeB, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return store(operation->epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return store(operation->bias, value, bytes);
  default:
    return invalid("attribute of an operation that is not emulated");
  }
}

cublasStatus_t createPreference(cublasLtMatmulPreference_t *made) {
  if (!made)
    return invalid("null pointer to a preference");
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(
      cublasLtState().preferences.create());
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroyPreference(cublasLtMatmulPreference_t preference) {
  return cublasLtState().preferences.destroy(preference)
             ? CUBLAS_STATUS_SUCCESS
             : invalid("the preference is not alive");
}

cublasStatus_t setPreference(cublasLtMatmulPreference_t handle,
                             cublasLtMatmulPreferenceAttributes_t attribute,
                             const void *value, size_t bytes) {
  MatmulPreference *preference = cublasLtState().preferences.find(handle);
  if (!preference)
    return invalid("the preference is not alive");
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return store(preference->workspaceBytes, value, bytes);
  case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    return store(preference->schemes, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return store(
        preference->alignments[attribute -
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
        value, bytes);
  }
  return invalid("unknown attribute of a preference");
}

} // namespace

void bindEmulated(CublasLtApi &api) {
  api.file = "the emulated cuBLASLt";
  api.cublasLtGetVersion = getVersion;
  api.cublasLtGetCudartVersion = getVersion;
  api.cublasLtGetStatusName = statusName;
  api.cublasLtGetStatusString = statusString;
  api.cublasLtCreate = create;
  api.cublasLtDestroy = destroy;
  api.cublasLtMatmulDescCreate = createOperation;
  api.cublasLtMatmulDescDestroy = destroyOperation;
  api.cublasLtMatmulDescSetAttribute = setOperation;
  api.cublasLtMatrixLayoutCreate = createLayout;
  api.cublasLtMatrixLayoutDestroy = destroyLayout;
  api.cublasLtMatrixLayoutSetAttribute = setLayout;
  api.cublasLtMatmulPreferenceCreate = createPreference;
  api.cublasLtMatmulPreferenceDestroy = destroyPreference;
  api.cublasLtMatmulPreferenceSetAttribute = setPreference;
  api.cublasLtMatmulAlgoGetHeuristic = findMatmul;
  api.cublasLtMatmul = callMatmul;
}

} // namespace autopar::runtime::emulated
