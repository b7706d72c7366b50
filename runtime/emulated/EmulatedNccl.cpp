//===- EmulatedNccl.cpp - NCCL's entry points without a GPU ---------------===//

#include "EmulatedNccl.h"

#include "NcclOperation.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace autopar::runtime::emulated {

namespace {

constexpr int kVersion = 22809; // whose behaviour is emulated
constexpr char kIdMagic[8] = {'A', 'P', 'N', 'C', 'C', 'L', '1', 0};

struct UniqueId {
  char magic[8];
  RegionName region;
};
static_assert(sizeof(UniqueId) <= sizeof(ncclUniqueId));

/// A call inside a group.
struct GroupedCall {
  ncclComm *comm;
  CUstream stream;
  Call call;
};

/// What the library knows in a process.
struct Library {
  // Never freed: a stale handle must be found out.
  std::vector<std::unique_ptr<ncclComm>> communicators;
  int groupDepth = 0;
  ncclResult_t groupError = ncclSuccess;
  std::vector<GroupedCall> group;
  std::string text; // of the last failure without a communicator
};

Library &library() {
  static Library library;
  return library;
}

ncclResult_t refused(ncclResult_t code, const std::string &text) {
  library().text = text;
  if (library().groupDepth > 0)
    library().groupError = code;
  return code;
}

bool isKnown(ncclComm_t comm) {
  for (const auto &known : library().communicators)
    if (known.get() == comm)
      return true;
  return false;
}

/// Success if the communicator can be used by `call`.
ncclResult_t usable(ncclComm_t comm, const char *call) {
  if (!isKnown(comm))
    return refused(ncclInvalidArgument,
                   std::string(call) + ": not a communicator");
  ncclResult_t result = comm->checkUsable(call);
  return result == ncclSuccess ? result : refused(result, comm->text);
}

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

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

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
  auto made = std::make_unique<ncclComm>();
  if (ncclResult_t result = readConfig(config, *made); result != ncclSuccess)
    return result;
  *comm = made.get();
  library().communicators.push_back(std::move(made));
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
  if (comm->asyncResult() == ncclInProgress)
    return refused(ncclInvalidUsage,
                   "ncclCommSplit: another call is still in progress");
  *child = nullptr;
  ncclComm *made = nullptr;
  if (color != NCCL_SPLIT_NOCOLOR) {
    auto owned = std::make_unique<ncclComm>();
    owned->root = comm->root;
    owned->blocking = comm->blocking;
    if (ncclResult_t result = readConfig(config, *owned); result != ncclSuccess)
      return result;
    made = owned.get();
    library().communicators.push_back(std::move(owned));
  }
  comm->split(color, key, child, made);
  return started(comm);
}

ncclResult_t commGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  if (!isKnown(comm))
    return refused(ncclInvalidArgument,
                   "ncclCommGetAsyncError: not a communicator");
  *error = comm->asyncResult();
  return ncclSuccess;
}

bool isInGroup(const ncclComm *comm) {
  for (const GroupedCall &call : library().group)
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

ncclResult_t commAbort(ncclComm_t comm) {
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
  return library().text.c_str();
}

//===----------------------------------------------------------------------===//
// Calls that move data
//===----------------------------------------------------------------------===//

ncclResult_t enqueueOperation(ncclComm *comm, CUstream stream,
                              std::unique_ptr<Operation> made) {
  std::shared_ptr<Operation> operation = std::move(made);
  Work work;
  work.name = operation->name();
  operation->addRanges(work.ranges);
  work.poll = [operation](bool first) { return operation->poll(first); };
  operation->counted = !isCapturing(stream);
  comm->pending += operation->counted ? 1 : 0;
  if (enqueue(stream, std::move(work)) == CUDA_SUCCESS)
    return ncclSuccess;
  return comm->raise(ncclUnhandledCudaError, faultText());
}

/// The messages of a communicator and a stream go together; collectives go one
/// after the other.
ncclResult_t launch(std::vector<GroupedCall> calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    GroupedCall &first = calls[i];
    if (!first.comm)
      continue; // went with an earlier one
    auto isMessage = [](const GroupedCall &call) {
      return call.call.record.kind == CallKind::send ||
             call.call.record.kind == CallKind::receive;
    };
    std::unique_ptr<Operation> operation;
    ncclComm *comm = first.comm;
    if (isMessage(first)) {
      std::vector<Call> together;
      for (size_t j = i; j < calls.size(); ++j)
        if (calls[j].comm == comm && calls[j].stream == first.stream &&
            isMessage(calls[j])) {
          together.push_back(calls[j].call);
          calls[j].comm = nullptr;
        }
      operation = makeMessages(*comm, std::move(together));
    } else {
      operation = makeCollective(*comm, first.call);
    }
    ncclResult_t result =
        enqueueOperation(comm, first.stream, std::move(operation));
    if (result != ncclSuccess)
      return refused(result, comm->text);
  }
  return ncclSuccess;
}

ncclResult_t groupStart() {
  ++library().groupDepth;
  return ncclSuccess;
}

ncclResult_t groupEnd() {
  if (library().groupDepth == 0)
    return refused(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--library().groupDepth > 0)
    return ncclSuccess;
  std::vector<GroupedCall> calls = std::move(library().group);
  library().group.clear();
  ncclResult_t error = library().groupError;
  library().groupError = ncclSuccess;
  return error == ncclSuccess ? launch(std::move(calls)) : error;
}

struct Sizes {
  size_t in, out; // elements
};

ncclResult_t checkArguments(const char *name, const Call &call, ncclComm_t comm,
                            CUstream stream) {
  const CallRecord &record = call.record;
  std::string text;
  if (record.type < 0 || record.type > ncclBfloat16)
    text = "unknown data type " + std::to_string(record.type);
  else if (record.reduction < 0 || record.reduction > ncclMin)
    text = "unknown reduction " + std::to_string(record.reduction);
  else if (record.root < 0 || record.root >= comm->size)
    text = "rank " + std::to_string(record.root) + " of a communicator of " +
           std::to_string(comm->size);
  else if (!isStream(stream))
    text = "not a stream";
  else if ((call.in | call.out) % CUdeviceptr(typeBytes(record.type)))
    text = "a misaligned address";
  else if (std::max(call.inBytes, call.outBytes) > NcclRegion::dataBytes)
    text = "too much data for the emulated device";
  if (text.empty())
    return ncclSuccess;
  return refused(ncclInvalidArgument, std::string(name) + ": " + text);
}

ncclResult_t move(CallKind kind, const char *name, const void *in, void *out,
                  Sizes sizes, size_t count, ncclDataType_t type, int reduction,
                  int root, ncclComm_t comm, CUstream stream) {
  if (ncclResult_t result = usable(comm, name); result != ncclSuccess)
    return result;
  Call call;
  call.record.kind = kind;
  call.record.type = type;
  call.record.reduction = reduction;
  call.record.root = root;
  call.record.count = int64_t(count);
  std::snprintf(call.record.op, sizeof(call.record.op), "%s", label().c_str());
  call.in = reinterpret_cast<CUdeviceptr>(in);
  call.out = reinterpret_cast<CUdeviceptr>(out);
  bool known = type >= 0 && type <= ncclBfloat16;
  call.inBytes = known ? int64_t(sizes.in) * typeBytes(type) : 0;
  call.outBytes = known ? int64_t(sizes.out) * typeBytes(type) : 0;
  if (ncclResult_t result = checkArguments(name, call, comm, stream);
      result != ncclSuccess)
    return result;
  if (count == 0)
    return ncclSuccess;
  groupStart();
  library().group.push_back({comm, stream, call});
  return groupEnd();
}

ncclResult_t allReduce(const void *in, void *out, size_t count,
                       ncclDataType_t type, ncclRedOp_t kind, ncclComm_t comm,
                       CUstream stream) {
  return move(CallKind::allReduce, "ncclAllReduce", in, out, {count, count},
              count, type, kind, 0, comm, stream);
}

size_t sizeOf(ncclComm_t comm) { return isKnown(comm) ? comm->size : 0; }

ncclResult_t allGather(const void *in, void *out, size_t count,
                       ncclDataType_t type, ncclComm_t comm, CUstream stream) {
  return move(CallKind::allGather, "ncclAllGather", in, out,
              {count, count * sizeOf(comm)}, count, type, 0, 0, comm, stream);
}

ncclResult_t reduceScatter(const void *in, void *out, size_t count,
                           ncclDataType_t type, ncclRedOp_t kind,
                           ncclComm_t comm, CUstream stream) {
  return move(CallKind::reduceScatter, "ncclReduceScatter", in, out,
              {count * sizeOf(comm), count}, count, type, kind, 0, comm,
              stream);
}

ncclResult_t broadcast(const void *in, void *out, size_t count,
                       ncclDataType_t type, int root, ncclComm_t comm,
                       CUstream stream) {
  return move(CallKind::broadcast, "ncclBroadcast", in, out, {count, count},
              count, type, 0, root, comm, stream);
}

ncclResult_t reduce(const void *in, void *out, size_t count,
                    ncclDataType_t type, ncclRedOp_t kind, int root,
                    ncclComm_t comm, CUstream stream) {
  return move(CallKind::reduce, "ncclReduce", in, out, {count, count}, count,
              type, kind, root, comm, stream);
}

ncclResult_t send(const void *data, size_t count, ncclDataType_t type, int peer,
                  ncclComm_t comm, CUstream stream) {
  return move(CallKind::send, "ncclSend", data, nullptr, {count, 0}, count,
              type, 0, peer, comm, stream);
}

ncclResult_t receive(void *data, size_t count, ncclDataType_t type, int peer,
                     ncclComm_t comm, CUstream stream) {
  return move(CallKind::receive, "ncclRecv", nullptr, data, {0, count}, count,
              type, 0, peer, comm, stream);
}

} // namespace

void bindEmulated(NcclApi &api) {
  api.ncclGetVersion = getVersion;
  api.ncclGetUniqueId = getUniqueId;
  api.ncclCommInitRankConfig = commInitRankConfig;
  api.ncclCommSplit = commSplit;
  api.ncclCommGetAsyncError = commGetAsyncError;
  api.ncclCommAbort = commAbort;
  api.ncclCommFinalize = commFinalize;
  api.ncclCommDestroy = commDestroy;
  api.ncclGroupStart = groupStart;
  api.ncclGroupEnd = groupEnd;
  api.ncclAllReduce = allReduce;
  api.ncclAllGather = allGather;
  api.ncclReduceScatter = reduceScatter;
  api.ncclBroadcast = broadcast;
  api.ncclReduce = reduce;
  api.ncclSend = send;
  api.ncclRecv = receive;
  api.ncclCommRegister = commRegister;
  api.ncclCommDeregister = commDeregister;
  api.ncclGetErrorString = getErrorString;
  api.ncclGetLastError = getLastError;
}

} // namespace autopar::runtime::emulated
