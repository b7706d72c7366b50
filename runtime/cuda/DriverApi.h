//===- DriverApi.h - The CUDA driver, loaded at run time --------*- C++ -*-===//
//
// Types, constants and functions of the CUDA driver that the runtime uses, with
// the names and values of cuda.h 12 and 13, so that no CUDA header is needed to
// build. Every call goes through one DriverApi: filled from libcuda.so.1 by
// load(), or by bindEmulated() with the emulated GPU's functions.
//
// Enumerations have the type int, here and in the other libraries' headers: a
// newer library returns values that are not listed, such as a new error code.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_DRIVERAPI_H
#define AUTOPAR_RUNTIME_CUDA_DRIVERAPI_H

#include "../core/Status.h"

#include <cstddef>
#include <cstdint>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUarray = struct CUarray_st *;

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_UNKNOWN = 999
};

/// Every error that messages name.
#define APRT_DRIVER_ERRORS(X)                                                  \
  X(CUDA_SUCCESS)                                                              \
  X(CUDA_ERROR_INVALID_VALUE)                                                  \
  X(CUDA_ERROR_OUT_OF_MEMORY)                                                  \
  X(CUDA_ERROR_NOT_INITIALIZED)                                                \
  X(CUDA_ERROR_DEINITIALIZED)                                                  \
  X(CUDA_ERROR_STUB_LIBRARY)                                                   \
  X(CUDA_ERROR_NO_DEVICE)                                                      \
  X(CUDA_ERROR_INVALID_DEVICE)                                                 \
  X(CUDA_ERROR_INVALID_IMAGE)                                                  \
  X(CUDA_ERROR_INVALID_CONTEXT)                                                \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU)                                              \
  X(CUDA_ERROR_INVALID_PTX)                                                    \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)                                        \
  X(CUDA_ERROR_INVALID_HANDLE)                                                 \
  X(CUDA_ERROR_ILLEGAL_STATE)                                                  \
  X(CUDA_ERROR_NOT_FOUND)                                                      \
  X(CUDA_ERROR_NOT_READY)                                                      \
  X(CUDA_ERROR_ILLEGAL_ADDRESS)                                                \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)                                        \
  X(CUDA_ERROR_LAUNCH_TIMEOUT)                                                 \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED)                                           \
  X(CUDA_ERROR_ASSERT)                                                         \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION)                                            \
  X(CUDA_ERROR_MISALIGNED_ADDRESS)                                             \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)                                 \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)                                     \
  X(CUDA_ERROR_LAUNCH_FAILED)                                                  \
  X(CUDA_ERROR_NOT_PERMITTED)                                                  \
  X(CUDA_ERROR_NOT_SUPPORTED)                                                  \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)                                     \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)                                     \
  X(CUDA_ERROR_STREAM_CAPTURE_MERGE)                                           \
  X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)                                       \
  X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)                                        \
  X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)                                       \
  X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)                                        \
  X(CUDA_ERROR_CAPTURED_EVENT)                                                 \
  X(CUDA_ERROR_UNKNOWN)

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
  CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};

enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum CUmemorytype : int { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };

enum CUstream_flags : int { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };

enum CUevent_flags : int {
  CU_EVENT_DEFAULT = 0,
  CU_EVENT_BLOCKING_SYNC = 1,
  CU_EVENT_DISABLE_TIMING = 2
};

enum CUstreamCaptureMode : int {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2
};

enum CUstreamCaptureStatus : int {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
  CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
};

/// A matrix copied between pitched memories; all sizes in bytes but y, height.
struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// X(name of the exported symbol, parameters): every function of the driver
/// that the runtime calls. All return CUresult.
#define APRT_DRIVER_FUNCTIONS(X)                                               \
  X(cuInit, (unsigned flags))                                                  \
  X(cuDriverGetVersion, (int *version))                                        \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                             \
  X(cuDeviceGetName, (char *name, int length, CUdevice device))                \
  X(cuDeviceGetAttribute,                                                      \
    (int *value, CUdevice_attribute attribute, CUdevice device))               \
  X(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))                     \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))          \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                           \
  X(cuCtxSetCurrent, (CUcontext context))                                      \
  X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                      \
  X(cuMemFree_v2, (CUdeviceptr address))                                       \
  X(cuMemGetInfo_v2, (size_t *free, size_t *total))                            \
  X(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))             \
  X(cuMemFreeHost, (void *memory))                                             \
  X(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))        \
  X(cuMemHostUnregister, (void *memory))                                       \
  X(cuMemHostGetDevicePointer_v2,                                              \
    (CUdeviceptr * address, void *memory, unsigned flags))                     \
  X(cuMemcpyHtoDAsync_v2,                                                      \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))         \
  X(cuMemcpyDtoHAsync_v2,                                                      \
    (void *to, CUdeviceptr from, size_t bytes, CUstream stream))               \
  X(cuMemcpyDtoDAsync_v2,                                                      \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))         \
  X(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))          \
  X(cuMemsetD8Async,                                                           \
    (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))      \
  X(cuMemsetD16Async,                                                          \
    (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))     \
  X(cuMemsetD32Async,                                                          \
    (CUdeviceptr to, unsigned value, size_t count, CUstream stream))           \
  X(cuMemsetD2D8Async, (CUdeviceptr to, size_t pitch, unsigned char value,     \
                        size_t width, size_t height, CUstream stream))         \
  X(cuMemsetD2D16Async, (CUdeviceptr to, size_t pitch, unsigned short value,   \
                         size_t width, size_t height, CUstream stream))        \
  X(cuMemsetD2D32Async, (CUdeviceptr to, size_t pitch, unsigned value,         \
                         size_t width, size_t height, CUstream stream))        \
  X(cuStreamCreateWithPriority,                                                \
    (CUstream * stream, unsigned flags, int priority))                         \
  X(cuStreamDestroy_v2, (CUstream stream))                                     \
  X(cuStreamSynchronize, (CUstream stream))                                    \
  X(cuStreamQuery, (CUstream stream))                                          \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))       \
  X(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))      \
  X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                    \
  X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status))    \
  X(cuGraphInstantiateWithFlags,                                               \
    (CUgraphExec * executable, CUgraph graph, unsigned long long flags))       \
  X(cuGraphLaunch, (CUgraphExec executable, CUstream stream))                  \
  X(cuGraphDestroy, (CUgraph graph))                                           \
  X(cuGraphExecDestroy, (CUgraphExec executable))                              \
  X(cuEventCreate, (CUevent * event, unsigned flags))                          \
  X(cuEventDestroy_v2, (CUevent event))                                        \
  X(cuEventRecord, (CUevent event, CUstream stream))                           \
  X(cuEventQuery, (CUevent event))                                             \
  X(cuEventSynchronize, (CUevent event))                                       \
  X(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))     \
  X(cuModuleLoadData, (CUmodule * module, const void *image))                  \
  X(cuModuleUnload, (CUmodule module))                                         \
  X(cuModuleGetFunction,                                                       \
    (CUfunction * function, CUmodule module, const char *name))                \
  X(cuFuncGetAttribute,                                                        \
    (int *value, CUfunction_attribute attribute, CUfunction function))         \
  X(cuFuncSetAttribute,                                                        \
    (CUfunction function, CUfunction_attribute attribute, int value))          \
  X(cuLaunchKernel,                                                            \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,      \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     CUstream stream, void **parameters, void **extra))                        \
  X(cuGetErrorName, (CUresult error, const char **text))                       \
  X(cuGetErrorString, (CUresult error, const char **text))

class DriverApi {
public:
  /// Oldest driver that is accepted, as cuDriverGetVersion counts: CUDA 12.0.
  static constexpr int minimumVersion = 12000;

  /// Opens libcuda.so.1 and resolves every function. A failure says what is
  /// missing and what to install.
  Status load();
  /// The same from a named file.
  Status load(const char *library);

  /// Success, or a message of `call` (name of the function) with the driver's
  /// name and text of the error.
  Status check(CUresult result, const char *call) const;

#define APRT_DECLARE(name, parameters) CUresult(*name) parameters = nullptr;
  APRT_DRIVER_FUNCTIONS(APRT_DECLARE)
#undef APRT_DECLARE

  /// Names the program's op whose calls follow, for messages of the emulated
  /// GPU; null with a real one.
  void (*setLabel)(const char *op) = nullptr;
};

} // namespace autopar::runtime

/// Calls `function` of the DriverApi `api`; a failure is returned from the
/// enclosing function as its Status.
#define APRT_CUDA(api, function, ...)                                          \
  APRT_TRY((api).check((api).function(__VA_ARGS__), #function))

#endif // AUTOPAR_RUNTIME_CUDA_DRIVERAPI_H
