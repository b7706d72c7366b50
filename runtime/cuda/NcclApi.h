//===- NcclApi.h - NCCL, loaded at run time ---------------------*- C++ -*-===//
//
// Types, constants and functions of NCCL that the runtime uses, with the names
// and values of nccl.h 2.18 and later, so that no header of it is needed to
// build. Every call goes through one NcclApi: filled from libnccl.so.2 by
// load(), or by bindEmulated() with the emulated GPU's functions.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_NCCLAPI_H
#define AUTOPAR_RUNTIME_CUDA_NCCLAPI_H

#include "DriverApi.h"

#include <climits>
#include <string_view>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using ncclComm_t = struct ncclComm *;

struct ncclUniqueId {
  char internal[128];
};

enum ncclResult_t : int {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
};

enum ncclDataType_t : int {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9
};

enum ncclRedOp_t : int { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3 };

constexpr int NCCL_SPLIT_NOCOLOR = -1;
constexpr int NCCL_CONFIG_UNDEF_INT = INT_MIN;

/// As of 2.18; newer libraries read what `size` and `version` say is there.
struct ncclConfig_t {
  size_t size = sizeof(ncclConfig_t);
  unsigned magic = 0xcafebeef;
  unsigned version = 21801;
  int blocking = NCCL_CONFIG_UNDEF_INT;
  int cgaClusterSize = NCCL_CONFIG_UNDEF_INT;
  int minCTAs = NCCL_CONFIG_UNDEF_INT;
  int maxCTAs = NCCL_CONFIG_UNDEF_INT;
  const char *netName = nullptr;
  int splitShare = NCCL_CONFIG_UNDEF_INT;
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// X(name, parameters): the functions that the runtime calls and that return
/// ncclResult_t.
#define APRT_NCCL_FUNCTIONS(X)                                                 \
  X(ncclGetVersion, (int *version))                                            \
  X(ncclGetUniqueId, (ncclUniqueId * id))                                      \
  X(ncclCommInitRankConfig, (ncclComm_t * comm, int ranks, ncclUniqueId id,    \
                             int rank, ncclConfig_t *config))                  \
  X(ncclCommSplit, (ncclComm_t comm, int color, int key, ncclComm_t *child,    \
                    ncclConfig_t *config))                                     \
  X(ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t * error))            \
  X(ncclCommAbort, (ncclComm_t comm))                                          \
  X(ncclCommFinalize, (ncclComm_t comm))                                       \
  X(ncclCommDestroy, (ncclComm_t comm))                                        \
  X(ncclGroupStart, ())                                                        \
  X(ncclGroupEnd, ())                                                          \
  X(ncclAllReduce,                                                             \
    (const void *in, void *out, size_t count, ncclDataType_t type,             \
     ncclRedOp_t kind, ncclComm_t comm, CUstream stream))                      \
  X(ncclAllGather, (const void *in, void *out, size_t count,                   \
                    ncclDataType_t type, ncclComm_t comm, CUstream stream))    \
  X(ncclReduceScatter,                                                         \
    (const void *in, void *out, size_t count, ncclDataType_t type,             \
     ncclRedOp_t kind, ncclComm_t comm, CUstream stream))                      \
  X(ncclBroadcast,                                                             \
    (const void *in, void *out, size_t count, ncclDataType_t type, int root,   \
     ncclComm_t comm, CUstream stream))                                        \
  X(ncclReduce,                                                                \
    (const void *in, void *out, size_t count, ncclDataType_t type,             \
     ncclRedOp_t kind, int root, ncclComm_t comm, CUstream stream))            \
  X(ncclSend, (const void *data, size_t count, ncclDataType_t type, int peer,  \
               ncclComm_t comm, CUstream stream))                              \
  X(ncclRecv, (void *data, size_t count, ncclDataType_t type, int peer,        \
               ncclComm_t comm, CUstream stream))

/// Functions of newer releases; null where the library lacks them.
#define APRT_NCCL_OPTIONAL_FUNCTIONS(X)                                        \
  X(ncclCommRegister,                                                          \
    (ncclComm_t comm, void *memory, size_t bytes, void **handle))              \
  X(ncclCommDeregister, (ncclComm_t comm, void *handle))

/// Functions that return text.
#define APRT_NCCL_TEXT_FUNCTIONS(X)                                            \
  X(ncclGetErrorString, (ncclResult_t error))                                  \
  X(ncclGetLastError, (ncclComm_t comm))

class NcclApi {
public:
  /// Oldest library that is accepted, as ncclGetVersion counts: 2.18.1 is the
  /// first with ncclCommSplit.
  static constexpr int minimumVersion = 21801;

  /// Opens libnccl.so.2 and resolves every function; it must be one that the
  /// driver can run (its version as cuDriverGetVersion counts, 0: any), for on
  /// another its first call ends as "unhandled cuda error". A failure says what
  /// is missing and how to install it.
  Status load(int driverVersion = 0);

  /// Success, or a message of `call` (name of the function) with NCCL's text
  /// of the error and what it said last about `comm` (may be null). A call
  /// that goes on in the background is a success.
  Status check(ncclResult_t result, const char *call,
               ncclComm_t comm = nullptr) const;

#define APRT_DECLARE(name, parameters) ncclResult_t(*name) parameters = nullptr;
  APRT_NCCL_FUNCTIONS(APRT_DECLARE)
  APRT_NCCL_OPTIONAL_FUNCTIONS(APRT_DECLARE)
#undef APRT_DECLARE
#define APRT_DECLARE(name, parameters) const char *(*name)parameters = nullptr;
  APRT_NCCL_TEXT_FUNCTIONS(APRT_DECLARE)
#undef APRT_DECLARE
};

/// The CUDA version of NCCL's own text, "NCCL version 2.28.9+cuda13.0": 13000;
/// 0: there is none. NCCL has no call that tells.
int ncclCudaVersion(std::string_view image);

/// "2.28.9" of 22809.
std::string ncclVersionText(int version);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_NCCLAPI_H
