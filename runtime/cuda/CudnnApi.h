//===- CudnnApi.h - cuDNN's graph API, loaded at run time -------*- C++ -*-===//
//
// Types, constants and functions of cuDNN's graph library that the runtime
// uses, and its copies between layouts, with the names and values of
// cudnn_graph.h and cudnn_ops.h 9, so that no CUDA header is needed to build.
// Every call goes through one CudnnApi: filled from libcudnn by load(), or by
// bindEmulated() with the emulated GPU's functions.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDNNAPI_H
#define AUTOPAR_RUNTIME_CUDA_CUDNNAPI_H

#include "../core/Status.h"
#include "DriverApi.h"

#include <cstddef>
#include <cstdint>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using cudnnHandle_t = struct cudnnContext *;
using cudnnBackendDescriptor_t = void *;
using cudnnTensorDescriptor_t = struct cudnnTensorStruct *;

/// The thousands name the category: 2 bad parameter, 3 not supported, 4
/// internal error, 5 execution failed.
enum cudnnStatus_t : int {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_NOT_INITIALIZED = 1001,
  CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH = 1002,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_BAD_PARAM_NULL_POINTER = 2002,
  CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER = 2003,
  CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED = 2004,
  CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND = 2005,
  CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT = 2006,
  CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH = 2008,
  CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES = 2009,
  CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE = 2010,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN = 3001,
  CUDNN_STATUS_NOT_SUPPORTED_SHAPE = 3002,
  CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE = 3003,
  CUDNN_STATUS_NOT_SUPPORTED_LAYOUT = 3004,
  CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING = 3008,
  CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE = 3009,
  CUDNN_STATUS_INTERNAL_ERROR = 4000,
  CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED = 4001,
  CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED = 4003,
  CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED = 4004,
  CUDNN_STATUS_EXECUTION_FAILED = 5000
};

/// The library does not have what was asked for; something else may do.
inline bool isCudnnUnsupported(cudnnStatus_t status) {
  return status / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000;
}

enum cudnnDataType_t : int {
  CUDNN_DATA_FLOAT = 0,
  CUDNN_DATA_DOUBLE = 1,
  CUDNN_DATA_HALF = 2,
  CUDNN_DATA_BFLOAT16 = 9
};

enum cudnnConvolutionMode_t : int { CUDNN_CROSS_CORRELATION = 1 };

enum cudnnPointwiseMode_t : int {
  CUDNN_POINTWISE_ADD = 0,
  CUDNN_POINTWISE_RELU_FWD = 100,
  CUDNN_POINTWISE_TANH_FWD = 101,
  CUDNN_POINTWISE_SIGMOID_FWD = 102,
  CUDNN_POINTWISE_GELU_FWD = 104,
  CUDNN_POINTWISE_SWISH_FWD = 106,
  CUDNN_POINTWISE_GELU_APPROX_TANH_FWD = 107
};

enum cudnnBackendHeurMode_t : int {
  CUDNN_HEUR_MODE_FALLBACK = 2,
  CUDNN_HEUR_MODE_A = 3
};

enum cudnnBackendNumericalNote_t : int {
  CUDNN_NUMERICAL_NOTE_TENSOR_CORE = 0,
  CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS = 1,
  CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION = 2,
  CUDNN_NUMERICAL_NOTE_FFT = 3,
  CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC = 4,
  CUDNN_NUMERICAL_NOTE_WINOGRAD = 5
};

enum cudnnBackendAttributeType_t : int {
  CUDNN_TYPE_HANDLE = 0,
  CUDNN_TYPE_DATA_TYPE = 1,
  CUDNN_TYPE_BOOLEAN = 2,
  CUDNN_TYPE_INT64 = 3,
  CUDNN_TYPE_FLOAT = 4,
  CUDNN_TYPE_DOUBLE = 5,
  CUDNN_TYPE_VOID_PTR = 6,
  CUDNN_TYPE_CONVOLUTION_MODE = 7,
  CUDNN_TYPE_HEUR_MODE = 8,
  CUDNN_TYPE_NUMERICAL_NOTE = 11,
  CUDNN_TYPE_POINTWISE_MODE = 14,
  CUDNN_TYPE_BACKEND_DESCRIPTOR = 15,
  CUDNN_TYPE_CHAR = 24
};

enum cudnnBackendDescriptorType_t : int {
  CUDNN_BACKEND_POINTWISE_DESCRIPTOR = 0,
  CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR = 1,
  CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
  CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
  CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
  CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10,
  CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR = 13,
  CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
  CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
  CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17
};

enum cudnnBackendAttributeName_t : int {
  CUDNN_ATTR_POINTWISE_MODE = 0,
  CUDNN_ATTR_POINTWISE_MATH_PREC = 1,
  CUDNN_ATTR_CONVOLUTION_COMP_TYPE = 100,
  CUDNN_ATTR_CONVOLUTION_CONV_MODE = 101,
  CUDNN_ATTR_CONVOLUTION_DILATIONS = 102,
  CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES = 103,
  CUDNN_ATTR_CONVOLUTION_POST_PADDINGS = 104,
  CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS = 105,
  CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS = 106,
  CUDNN_ATTR_ENGINEHEUR_MODE = 200,
  CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
  CUDNN_ATTR_ENGINEHEUR_RESULTS = 202,
  CUDNN_ATTR_ENGINECFG_ENGINE = 300,
  CUDNN_ATTR_EXECUTION_PLAN_HANDLE = 400,
  CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
  CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
  CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION = 405,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA = 701,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W = 703,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X = 704,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y = 705,
  CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
  CUDNN_ATTR_OPERATION_POINTWISE_XDESC = 751,
  CUDNN_ATTR_OPERATION_POINTWISE_BDESC = 752,
  CUDNN_ATTR_OPERATION_POINTWISE_YDESC = 753,
  CUDNN_ATTR_OPERATIONGRAPH_HANDLE = 800,
  CUDNN_ATTR_OPERATIONGRAPH_OPS = 801,
  CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
  CUDNN_ATTR_TENSOR_DATA_TYPE = 901,
  CUDNN_ATTR_TENSOR_DIMENSIONS = 902,
  CUDNN_ATTR_TENSOR_STRIDES = 903,
  CUDNN_ATTR_TENSOR_UNIQUE_ID = 906,
  CUDNN_ATTR_TENSOR_IS_VIRTUAL = 907,
  CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
  CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
  CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,
  CUDNN_ATTR_ENGINE_NUMERICAL_NOTE = 1303
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// X(result, name of the exported symbol, parameters): every function of cuDNN
/// that the runtime calls.
#define APRT_CUDNN_FUNCTIONS(X)                                                \
  X(size_t, cudnnGetVersion, ())                                               \
  X(size_t, cudnnGetCudartVersion, ())                                         \
  X(const char *, cudnnGetErrorString, (cudnnStatus_t status))                 \
  X(void, cudnnGetLastErrorString, (char *message, size_t bytes))              \
  X(cudnnStatus_t, cudnnCreate, (cudnnHandle_t * handle))                      \
  X(cudnnStatus_t, cudnnDestroy, (cudnnHandle_t handle))                       \
  X(cudnnStatus_t, cudnnSetStream, (cudnnHandle_t handle, CUstream stream))    \
  X(cudnnStatus_t, cudnnBackendCreateDescriptor,                               \
    (cudnnBackendDescriptorType_t type,                                        \
     cudnnBackendDescriptor_t * descriptor))                                   \
  X(cudnnStatus_t, cudnnBackendDestroyDescriptor,                              \
    (cudnnBackendDescriptor_t descriptor))                                     \
  X(cudnnStatus_t, cudnnBackendFinalize,                                       \
    (cudnnBackendDescriptor_t descriptor))                                     \
  X(cudnnStatus_t, cudnnBackendSetAttribute,                                   \
    (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,    \
     cudnnBackendAttributeType_t type, int64_t count, const void *elements))   \
  X(cudnnStatus_t, cudnnBackendGetAttribute,                                   \
    (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,    \
     cudnnBackendAttributeType_t type, int64_t requested, int64_t *count,      \
     void *elements))                                                          \
  X(cudnnStatus_t, cudnnBackendExecute,                                        \
    (cudnnHandle_t handle, cudnnBackendDescriptor_t plan,                      \
     cudnnBackendDescriptor_t variantPack))                                    \
  X(cudnnStatus_t, cudnnCreateTensorDescriptor,                                \
    (cudnnTensorDescriptor_t * tensor))                                        \
  X(cudnnStatus_t, cudnnDestroyTensorDescriptor,                               \
    (cudnnTensorDescriptor_t tensor))                                          \
  X(cudnnStatus_t, cudnnSetTensorNdDescriptor,                                 \
    (cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int rank,           \
     const int *sizes, const int *strides))                                    \
  X(cudnnStatus_t, cudnnTransformTensor,                                       \
    (cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t from,    \
     const void *x, const void *beta, cudnnTensorDescriptor_t to, void *y))

class CudnnApi {
public:
  /// Oldest version that is accepted, as cudnnGetVersion counts: 9.0.
  static constexpr size_t minimumVersion = 90000;

  /// Opens libcudnn.so.9, which opens its sub-libraries when they are needed,
  /// and resolves every function; it must be one that the driver can run (its
  /// version as cuDriverGetVersion counts, 0: any). A failure says what is
  /// missing and what to install.
  Status load(int driverVersion = 0);

  /// Success, or a message of `call` (name of the function) with the library's
  /// text of the error.
  Status check(cudnnStatus_t result, const char *call) const;

#define APRT_DECLARE(result, name, parameters)                                 \
  result(*name) parameters = nullptr;
  APRT_CUDNN_FUNCTIONS(APRT_DECLARE)
#undef APRT_DECLARE

  std::string file; // that load() opened
};

/// "9.13.0" of a version as cudnnGetVersion counts.
std::string cudnnVersionText(size_t version);

} // namespace autopar::runtime

/// Calls `function` of the CudnnApi `api`; a failure is returned from the
/// enclosing function as its Status.
#define APRT_CUDNN(api, function, ...)                                         \
  APRT_TRY((api).check((api).function(__VA_ARGS__), #function))

#endif // AUTOPAR_RUNTIME_CUDA_CUDNNAPI_H
