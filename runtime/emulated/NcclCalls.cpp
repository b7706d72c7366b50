//===- NcclCalls.cpp - Groups, and the calls that move data ---------------===//

#include "NcclLibrary.h"

#include <algorithm>
#include <cstdio>

namespace autopar::runtime::emulated {

NcclLibrary &ncclLibrary() {
  // Never freed: what the device holds at exit may still name communicators.
  static NcclLibrary &library = *new NcclLibrary;
  return library;
}

int looksLater() { return int(chooseBelow(4)); }

ncclResult_t refused(ncclResult_t code, const std::string &text) {
  ncclLibrary().text = text;
  if (ncclLibrary().groupDepth > 0)
    ncclLibrary().groupError = code;
  return code;
}

bool isKnown(ncclComm_t comm) {
  for (const auto &known : ncclLibrary().communicators)
    if (known.get() == comm)
      return true;
  return false;
}

ncclResult_t usable(ncclComm_t comm, const char *call) {
  if (!isKnown(comm))
    return refused(ncclInvalidArgument,
                   std::string(call) + ": not a communicator");
  if (comm->isBusy())
    return refused(ncclInvalidArgument,
                   std::string(call) +
                       ": the communicator is used before its previous "
                       "operation has returned ncclSuccess");
  ncclResult_t result = comm->checkUsable(call);
  return result == ncclSuccess ? result : refused(result, comm->text);
}

namespace {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

ncclResult_t enqueueOperation(ncclComm *comm, CUstream stream,
                              std::unique_ptr<NcclOperation> made) {
  std::shared_ptr<NcclOperation> operation = std::move(made);
  Work work;
  work.name = operation->name();
  operation->addRanges(work.ranges);
  work.poll = [operation](bool first) { return operation->poll(first); };
  operation->inGraph = isCapturing(stream);
  operation->counted = !operation->inGraph;
  comm->captured += operation->inGraph ? 1 : 0;
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
    std::unique_ptr<NcclOperation> operation;
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

/// The capture that a call belongs to may be over when NCCL's thread comes.
ncclResult_t checkCapture(const PendingLaunch &launch) {
  for (size_t i = 0; i < launch.calls.size(); ++i) {
    const GroupedCall &call = launch.calls[i];
    if (launch.captured[i] == isCapturing(call.stream))
      continue;
    std::string text =
        describe(call.call.record) +
        (launch.captured[i] ? ": the capture ended before NCCL's thread came "
                              "to its stream"
                            : ": a capture began before NCCL's thread came to "
                              "its stream") +
        "; wait until ncclCommGetAsyncError says ncclSuccess";
    (void)fault(FaultKind::library, text);
    return call.comm->raise(ncclUnhandledCudaError, text);
  }
  return ncclSuccess;
}

/// Whether the launch is left to NCCL's thread: a call on a non-blocking
/// communicator returns before.
bool goesInBackground(const std::vector<GroupedCall> &calls) {
  return std::any_of(calls.begin(), calls.end(), [](const GroupedCall &call) {
    return !call.comm->blocking;
  });
}

ncclResult_t launchLater(std::vector<GroupedCall> calls) {
  PendingLaunch launch;
  launch.looks = looksLater();
  for (const GroupedCall &call : calls) {
    launch.captured.push_back(isCapturing(call.stream));
    ++call.comm->launching;
  }
  launch.calls = std::move(calls);
  ncclLibrary().launches.push_back(std::move(launch));
  return ncclInProgress;
}

ncclResult_t groupStart() {
  ++ncclLibrary().groupDepth;
  return ncclSuccess;
}

ncclResult_t groupEnd() {
  if (ncclLibrary().groupDepth == 0)
    return refused(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--ncclLibrary().groupDepth > 0)
    return ncclSuccess;
  std::vector<GroupedCall> calls = std::move(ncclLibrary().group);
  ncclLibrary().group.clear();
  ncclResult_t error = ncclLibrary().groupError;
  ncclLibrary().groupError = ncclSuccess;
  if (error != ncclSuccess)
    return error;
  return goesInBackground(calls) ? launchLater(std::move(calls))
                                 : launch(std::move(calls));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

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
  ncclLibrary().group.push_back({comm, stream, call});
  ncclResult_t result = groupEnd();
  // A call of its own looks once whether the thread was quick.
  return result == ncclInProgress ? comm->asyncResult() : result;
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

/// Groups on several communicators have threads of their own, so that any of
/// them may come first.
void actAsNcclThread() {
  std::vector<PendingLaunch> &launches = ncclLibrary().launches;
  if (launches.empty())
    return;
  size_t chosen = size_t(chooseBelow(launches.size()));
  if (launches[chosen].looks-- > 0)
    return;
  PendingLaunch mine = std::move(launches[chosen]);
  launches.erase(launches.begin() + ptrdiff_t(chosen));
  for (const GroupedCall &call : mine.calls)
    --call.comm->launching;
  if (checkCapture(mine) == ncclSuccess)
    (void)launch(std::move(mine.calls));
}

void bindCalls(NcclApi &api) {
  api.ncclGroupStart = groupStart;
  api.ncclGroupEnd = groupEnd;
  api.ncclAllReduce = allReduce;
  api.ncclAllGather = allGather;
  api.ncclReduceScatter = reduceScatter;
  api.ncclBroadcast = broadcast;
  api.ncclReduce = reduce;
  api.ncclSend = send;
  api.ncclRecv = receive;
}

} // namespace autopar::runtime::emulated
