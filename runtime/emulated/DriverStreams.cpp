//===- DriverStreams.cpp - Emulated driver: streams, events, graphs -------===//

#include "Driver.h"

namespace autopar::runtime::emulated {

/// Declares `object`, what `handle` stands for, or returns an error.
#define APEMU_FIND(Type, object, handle)                                       \
  Type *object = gpu().queues.find(handle);                                    \
  if (!object)                                                                 \
  return refuse(CUDA_ERROR_INVALID_HANDLE, "not a live " #object)

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
  APEMU_READY();
  if (flags & ~unsigned(CU_STREAM_NON_BLOCKING))
    return refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags of a stream");
  *stream = reinterpret_cast<CUstream>(
      gpu().queues.createStream("", flags & CU_STREAM_NON_BLOCKING));
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  if (stream->actor == 0)
    return refuse(CUDA_ERROR_INVALID_HANDLE,
                  "the default stream cannot be destroyed");
  APEMU_NOT_CAPTURED("cuStreamDestroy", stream);
  gpu().queues.destroy(*stream);
  return CUDA_SUCCESS;
}

/// The default stream is done when the blocking ones are.
static void gatherDefaultStream(Stream &stream) {
  if (stream.actor == 0)
    gpu().queues.beginCommand(stream);
}

CUresult cuStreamSynchronize(CUstream handle) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  APEMU_NOT_CAPTURED("cuStreamSynchronize", stream);
  Queues &queues = gpu().queues;
  gatherDefaultStream(*stream);
  queues.runUntil(*stream, stream->issued, /*forEver=*/true);
  queues.hostLearns(stream->clock);
  return faultCode();
}

CUresult cuStreamQuery(CUstream handle) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  APEMU_NOT_CAPTURED("cuStreamQuery", stream);
  Queues &queues = gpu().queues;
  gatherDefaultStream(*stream);
  queues.lookAt(*stream, stream->issued);
  if (CUresult code = faultCode())
    return code;
  if (!queues.done(*stream, stream->issued))
    return CUDA_ERROR_NOT_READY;
  queues.hostLearns(stream->clock);
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  APEMU_FIND(Event, event, eventHandle);
  if (CUresult code = gpu().graphs.mayEnqueue(*stream))
    return code;
  return gpu().graphs.wait(*stream, *event);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  APEMU_READY();
  *event = reinterpret_cast<CUevent>(
      gpu().queues.createEvent(!(flags & CU_EVENT_DISABLE_TIMING)));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  APEMU_READY();
  APEMU_FIND(Event, event, handle);
  gpu().queues.destroy(*event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, streamHandle);
  APEMU_FIND(Event, event, handle);
  if (CUresult code = gpu().graphs.mayEnqueue(*stream))
    return code;
  if (stream->capture)
    stream->capture->record(*stream, *event);
  else
    gpu().queues.record(*stream, *event);
  return CUDA_SUCCESS;
}

static CUresult checkNotCaptured(const Event &event, const char *call) {
  if (!event.capture)
    return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_CAPTURED_EVENT, std::string(call) + ": " +
                                               event.name +
                                               " was recorded in a capture");
}

CUresult cuEventQuery(CUevent handle) {
  APEMU_READY();
  APEMU_FIND(Event, event, handle);
  if (CUresult code = checkNotCaptured(*event, "cuEventQuery"))
    return code;
  if (!event->record)
    return CUDA_SUCCESS;
  Queues &queues = gpu().queues;
  const EventRecord record = *event->record;
  queues.lookAt(*record.stream, record.sequence);
  if (CUresult code = faultCode())
    return code;
  if (!queues.done(*record.stream, record.sequence))
    return CUDA_ERROR_NOT_READY;
  queues.hostLearns(record.clock);
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent handle) {
  APEMU_READY();
  APEMU_FIND(Event, event, handle);
  if (CUresult code = checkNotCaptured(*event, "cuEventSynchronize"))
    return code;
  if (!event->record)
    return CUDA_SUCCESS;
  const EventRecord record = *event->record;
  gpu().queues.runUntil(*record.stream, record.sequence, /*forEver=*/true);
  gpu().queues.hostLearns(record.clock);
  return faultCode();
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent startHandle,
                            CUevent endHandle) {
  APEMU_READY();
  Event *start = gpu().queues.find(startHandle);
  Event *end = gpu().queues.find(endHandle);
  if (!start || !end || !start->timed || !end->timed || !start->record ||
      !end->record)
    return refuse(CUDA_ERROR_INVALID_HANDLE,
                  "cuEventElapsedTime wants two recorded events with timing");
  Queues &queues = gpu().queues;
  for (const Event *event : {start, end})
    if (!queues.done(*event->record->stream, event->record->sequence))
      return CUDA_ERROR_NOT_READY;
  *milliseconds = float((end->record->seconds - start->record->seconds) * 1e3);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  return gpu().graphs.begin(*stream, mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  return gpu().graphs.end(*stream, graph);
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  *status = !stream->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                     unsigned long long flags) {
  APEMU_READY();
  if (flags)
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "flags of cuGraphInstantiate are not emulated");
  return gpu().graphs.instantiate(graph, executable);
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  APEMU_READY();
  APEMU_FIND(Stream, stream, handle);
  return gpu().graphs.launch(executable, *stream);
}

CUresult cuGraphDestroy(CUgraph graph) {
  APEMU_READY();
  return gpu().graphs.destroy(graph);
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  APEMU_READY();
  return gpu().graphs.destroy(executable);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuModuleLoadData", nullptr);
  return gpu().modules.load(image, module);
}

CUresult cuModuleUnload(CUmodule module) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuModuleUnload", nullptr);
  return gpu().modules.unload(module);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  APEMU_READY();
  return gpu().modules.find(module, name, function);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                            CUfunction handle) {
  APEMU_READY();
  Function *function = gpu().modules.find(handle);
  if (!function)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a function");
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = int(LaunchLimits::threads);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = int(function->kernel->shared_bytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = int(function->maxDynamicShared);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = 0; // what a compiler for a real GPU would say is not known
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_INVALID_VALUE, "unknown attribute of a function");
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                            int value) {
  APEMU_READY();
  Function *function = gpu().modules.find(handle);
  if (!function)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a function");
  int64_t most = LaunchLimits::sharedWhenAsked - function->kernel->shared_bytes;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value < 0 || value > most)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "not a value that an attribute of a function may have");
  function->maxDynamicShared = value;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, CUstream stream,
                        void **parameters, void **extra) {
  APEMU_READY();
  Function *function = gpu().modules.find(handle);
  if (!function)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a function");
  if (extra)
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "'extra' of cuLaunchKernel is not emulated");
  return launchKernel(*function, {gridX, gridY, gridZ},
                      {blockX, blockY, blockZ}, sharedBytes, stream,
                      parameters);
}

} // namespace autopar::runtime::emulated
