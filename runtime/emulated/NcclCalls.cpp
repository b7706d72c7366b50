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
  ncclResult_t result = comm->checkUsable(call);
  return result == ncclSuccess ? result : refused(result, comm->text);
}

namespace {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

ncclResult_t enqueueOperation(ncclComm *comm, CUstream stream,
                              std::unique_ptr<Operation> made) {
  std::shared_ptr<Operation> operation = std::move(made);
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
  return error == ncclSuccess ? launch(std::move(calls)) : error;
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
