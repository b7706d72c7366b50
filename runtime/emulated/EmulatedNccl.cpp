//===- EmulatedNccl.cpp - NCCL's entry points for communicators -----------===//

#include "EmulatedNccl.h"

#include "../cuda/DynamicLibrary.h"
#include "Driver.h"
#include "NcclLibrary.h"
#include "Planted.h"

#include <cstring>
#include <unistd.h>

namespace autopar::runtime::emulated {

namespace {

constexpr int kVersion = 22809; // whose behaviour is emulated
/// Of CUDA that it is made for.
int cudaVersion() {
  return isPlanted(Planted::ncclCuda) ? int(planted(Planted::ncclCuda)) : 13000;
}

/// The first call of CUDA's runtime inside NCCL fails on an older driver.
bool runsOnDriver() {
  int driver = 0;
  return cuDriverGetVersion(&driver) == CUDA_SUCCESS &&
         cudaVersion() / 1000 <= driver / 1000;
}

constexpr char kIdMagic[8] = {'A', 'P', 'N', 'C', 'C', 'L', '1', 0};

struct UniqueId {
  char magic[8];
  RegionName region;
};
static_assert(sizeof(UniqueId) <= sizeof(ncclUniqueId));

/// Blocking communicators wait here as NCCL does, others say "in progress".
ncclResult_t started(ncclComm *comm) {
  ncclResult_t result = comm->asyncResult();
  while (comm->blocking && result == ncclInProgress) {
    progress();
    result = comm->asyncResult();
  }
  if (result != ncclSuccess && result != ncclInProgress)
    return refused(result, comm->text);
  return result;
}

ncclResult_t getVersion(int *version) {
  *version = kVersion;
  return ncclSuccess;
}

ncclResult_t getUniqueId(ncclUniqueId *id) {
  UniqueId made = {};
  std::memcpy(made.magic, kIdMagic, sizeof(kIdMagic));
  Status status = NcclRegion::create(made.region);
  if (status.failed())
    return refused(ncclSystemError, status.message());
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id->internal, &made, sizeof(made));
  return ncclSuccess;
}

ncclResult_t readConfig(const ncclConfig_t *config, ncclComm &comm) {
  if (!config)
    return ncclSuccess;
  if (config->magic != ncclConfig_t().magic ||
      config->size < offsetof(ncclConfig_t, cgaClusterSize))
    return refused(ncclInvalidArgument, "the configuration is not initialised");
  if (config->blocking != NCCL_CONFIG_UNDEF_INT)
    comm.blocking = config->blocking != 0;
  return ncclSuccess;
}

ncclResult_t commInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id,
                                int rank, ncclConfig_t *config) {
  UniqueId read;
  std::memcpy(&read, id.internal, sizeof(read));
  if (std::memcmp(read.magic, kIdMagic, sizeof(kIdMagic)) != 0)
    return refused(ncclInvalidArgument, "not an id of ncclGetUniqueId");
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refused(ncclInvalidArgument, "rank " + std::to_string(rank) +
                                            " of " + std::to_string(ranks));
  if (!runsOnDriver())
    return refused(ncclUnhandledCudaError, "");
  auto made = std::make_unique<ncclComm>();
  if (ncclResult_t result = readConfig(config, *made); result != ncclSuccess)
    return result;
  *comm = made.get();
  ncclLibrary().communicators.push_back(std::move(made));
  (*comm)->join(read.region, ranks, rank);
  return started(*comm);
}

ncclResult_t commSplit(ncclComm_t comm, int color, int key, ncclComm_t *child,
                       ncclConfig_t *config) {
  if (ncclResult_t result = usable(comm, "ncclCommSplit");
      result != ncclSuccess)
    return result;
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR)
    return refused(ncclInvalidArgument, "ncclCommSplit: a negative color");
  *child = nullptr;
  ncclComm *made = nullptr;
  if (color != NCCL_SPLIT_NOCOLOR) {
    auto owned = std::make_unique<ncclComm>();
    owned->root = comm->root;
    owned->blocking = comm->blocking;
    if (ncclResult_t result = readConfig(config, *owned); result != ncclSuccess)
      return result;
    made = owned.get();
    ncclLibrary().communicators.push_back(std::move(owned));
  }
  comm->split(color, key, child, made);
  // Of a non-blocking communicator it goes on, and yet returns success.
  return comm->blocking ? started(comm) : ncclSuccess;
}

ncclResult_t commGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  if (!isKnown(comm))
    return refused(ncclInvalidArgument,
                   "ncclCommGetAsyncError: not a communicator");
  *error = comm->asyncResult();
  return ncclSuccess;
}

bool isInGroup(const ncclComm *comm) {
  for (const GroupedCall &call : ncclLibrary().group)
    if (call.comm == comm)
      return true;
  return false;
}

ncclResult_t commFinalize(ncclComm_t comm) {
  if (ncclResult_t result = usable(comm, "ncclCommFinalize");
      result != ncclSuccess)
    return result;
  if (isInGroup(comm))
    return refused(ncclInvalidUsage,
                   "ncclCommFinalize: a group with calls on the communicator "
                   "was not ended");
  comm->finalize();
  return started(comm);
}

ncclResult_t commLeave(ncclComm_t comm, const char *call, ncclComm::State how) {
  if (!isKnown(comm) || comm->process != getpid())
    return refused(ncclInvalidArgument,
                   std::string(call) + ": not a communicator of this process");
  if (comm->state == ncclComm::State::gone ||
      comm->state == ncclComm::State::aborted)
    return refused(ncclInvalidArgument,
                   std::string(call) +
                       ": the communicator was destroyed or aborted before");
  if (how == ncclComm::State::gone && comm->pending > 0)
    return refused(ncclInvalidUsage, std::string(call) + ": " +
                                         std::to_string(comm->pending) +
                                         " operations are not done");
  comm->leave(how);
  return ncclSuccess;
}

/// Work of a destroyed graph may still run: the abort ends it.
ncclResult_t commAbort(ncclComm_t comm) {
  if (isKnown(comm) && comm->captured > 0 && holdsGraphs()) {
    std::string text = "ncclCommAbort: a graph still holds " +
                       std::to_string(comm->captured) +
                       " operations of the communicator; NCCL waits for ever "
                       "until it is destroyed";
    (void)fault(FaultKind::library, text);
    return refused(ncclInvalidUsage, text);
  }
  return commLeave(comm, "ncclCommAbort", ncclComm::State::aborted);
}

ncclResult_t commDestroy(ncclComm_t comm) {
  return commLeave(comm, "ncclCommDestroy", ncclComm::State::gone);
}

ncclResult_t commRegister(ncclComm_t comm, void *memory, size_t bytes,
                          void **handle) {
  if (ncclResult_t result = usable(comm, "ncclCommRegister");
      result != ncclSuccess)
    return result;
  if (bytes == 0 || !isDeviceAddress(reinterpret_cast<CUdeviceptr>(memory)))
    return refused(ncclInvalidArgument, "ncclCommRegister: no device memory");
  *handle = memory;
  return ncclSuccess;
}

ncclResult_t commDeregister(ncclComm_t comm, void *) {
  return usable(comm, "ncclCommDeregister");
}

const char *getErrorString(ncclResult_t error) {
  static const char *const texts[] = {
      "no error",
      "unhandled cuda error",
      "unhandled system error",
      "internal error",
      "invalid argument",
      "invalid usage",
      "remote process exited or there was a network error",
      "NCCL operation in progress"};
  return error >= 0 && error <= ncclInProgress ? texts[error] : "unknown";
}

const char *getLastError(ncclComm_t comm) {
  if (isKnown(comm) && !comm->text.empty())
    return comm->text.c_str();
  return ncclLibrary().text.c_str();
}

} // namespace

void bindEmulated(NcclApi &api) {
  bindCalls(api);
  setBackground(actAsNcclThread);
  api.ncclGetVersion = getVersion;
  api.ncclGetUniqueId = getUniqueId;
  api.ncclCommInitRankConfig = commInitRankConfig;
  api.ncclCommSplit = commSplit;
  api.ncclCommGetAsyncError = commGetAsyncError;
  api.ncclCommAbort = commAbort;
  api.ncclCommFinalize = commFinalize;
  api.ncclCommDestroy = commDestroy;
  api.ncclCommRegister = commRegister;
  api.ncclCommDeregister = commDeregister;
  api.ncclGetErrorString = getErrorString;
  api.ncclGetLastError = getLastError;
}

Status bindEmulated(NcclApi &api, int driverVersion) {
  bindEmulated(api);
  return checkLibraryDriver("the emulated NCCL", "pip install nvidia-nccl-cu12",
                            cudaVersion(), driverVersion);
}

} // namespace autopar::runtime::emulated
