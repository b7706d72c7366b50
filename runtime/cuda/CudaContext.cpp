//===- CudaContext.cpp - One rank's place on a GPU ------------------------===//

#include "CudaContext.h"

#include "../core/Futex.h"

namespace autopar::runtime {

CudaContext::CudaContext(const DriverApi &driver, const Manifest &manifest,
                         const CudaOptions &options, RankMemory &memory)
    : driver(driver), manifest(manifest), options(options), memory(memory),
      tf32(options.tf32), packedMemory(memory.packed) {}

Status CudaContext::create(const DriverApi &driver, const Manifest &manifest,
                           const CudaOptions &options, RankMemory &memory,
                           std::unique_ptr<CudaContext> &result) {
  result.reset(new CudaContext(driver, manifest, options, memory));
  APRT_TRY(result->openDevice());
  APRT_TRY(result->describe());
  APRT_TRY(driver.check(
      driver.cuDevicePrimaryCtxRetain(&result->context, result->device),
      "cuDevicePrimaryCtxRetain"));
  APRT_CUDA(driver, cuCtxSetCurrent, result->context);
  return result->makeStreams();
}

bool CudaContext::isIdle() const {
  for (CUstream stream : streams)
    if (driver.cuStreamQuery(stream) != CUDA_SUCCESS)
      return false;
  return !copies || driver.cuStreamQuery(copies) == CUDA_SUCCESS;
}

/// Work that failed, or that waits for a rank that died, would keep the driver
/// waiting for ever: then the end of the process gives all back. Nobody is left
/// to hear of failures here.
CudaContext::~CudaContext() {
  if (!context || !isIdle())
    return;
  for (auto &[address, block] : blocks) {
    (void)driver.cuMemFree_v2(deviceAddress(address));
    block.counter->remove(block.bytes);
  }
  for (CUstream stream : streams)
    (void)driver.cuStreamDestroy_v2(stream);
  if (copies)
    (void)driver.cuStreamDestroy_v2(copies);
  (void)driver.cuDevicePrimaryCtxRelease_v2(device);
}

Status CudaContext::openDevice() {
  CUresult begun = driver.cuInit(0);
  int count = 0;
  if (begun == CUDA_SUCCESS)
    APRT_CUDA(driver, cuDeviceGetCount, &count);
  else if (begun != CUDA_ERROR_NO_DEVICE)
    return Status::error("no device: the NVIDIA driver does not start: " +
                         driver.check(begun, "cuInit").message() +
                         "; `nvidia-smi` says more");
  if (count == 0)
    return Status::error(
        "no device: the NVIDIA driver is there, but it finds no GPU on this "
        "host; `nvidia-smi` must list one, and CUDA_VISIBLE_DEVICES must not "
        "hide it");
  int ordinal = options.ownDevice && count == 1 ? 0 : options.device;
  if (ordinal >= count)
    return Status::error(
        "no device: this rank needs GPU " + std::to_string(options.device) +
        " of its host, which has " + std::to_string(count) +
        "; use a host with a GPU for every rank, compile for fewer ranks, or "
        "look whether CUDA_VISIBLE_DEVICES hides some");
  APRT_CUDA(driver, cuDeviceGet, &device, ordinal);
  return Status::success();
}

Status CudaContext::describe() {
  char name[128] = {};
  int version = 0, major = 0, minor = 0, blocks = 0;
  APRT_CUDA(driver, cuDeviceGetName, name, int(sizeof(name)) - 1, device);
  APRT_CUDA(driver, cuDriverGetVersion, &version);
  APRT_CUDA(driver, cuDeviceGetAttribute, &major,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  APRT_CUDA(driver, cuDeviceGetAttribute, &minor,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  APRT_CUDA(driver, cuDeviceGetAttribute, &blocks,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device);
  capability = major * 10 + minor;
  gridBlocks = blocks;
  text = std::string(name) + " (sm_" + std::to_string(capability) +
         ", driver for CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10) + ")";
  if (capability < 80)
    return Status::error("this program's kernels need a GPU of compute "
                         "capability 8.0 (sm_80) or newer; this host has " +
                         text);
  return Status::success();
}

/// Communication goes first where both could run: others wait for it.
Status CudaContext::makeStreams() {
  constexpr int normal = 0, high = -1;
  auto make = [&](CUstream &stream, int priority) {
    return driver.check(driver.cuStreamCreateWithPriority(
                            &stream, CU_STREAM_NON_BLOCKING, priority),
                        "cuStreamCreateWithPriority");
  };
  for (int64_t index = 0; index < manifest.streams; ++index) {
    CUstream stream = nullptr;
    APRT_TRY(make(stream, index == 0 ? normal : high));
    streams.push_back(stream);
  }
  current = streams[0];
  return make(copies, normal);
}

void CudaContext::setOp(int wanted) {
  bool known = wanted >= 0 && size_t(wanted) < manifest.ops.size();
  op = wanted;
  current = streams[known ? size_t(manifest.ops[size_t(wanted)].stream) : 0];
  if (driver.setLabel)
    driver.setLabel(known ? manifest.ops[size_t(wanted)].name.c_str() : "");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaContext::outOfMemory(int64_t bytes, const char *what) const {
  size_t free = 0, total = 0;
  APRT_CUDA(driver, cuMemGetInfo_v2, &free, &total);
  return Status::error("the GPU has no room for " + std::to_string(bytes) +
                       " bytes of " + what + ": " + std::to_string(free) +
                       " of " + std::to_string(total) +
                       " bytes are free; compile for more ranks or a smaller "
                       "batch, or free the memory that others hold");
}

Status CudaContext::allocate(int64_t bytes, const char *what,
                             MemoryCounter &counter, void *&result) {
  CUdeviceptr address = 0;
  CUresult status =
      driver.cuMemAlloc_v2(&address, size_t(std::max<int64_t>(bytes, 1)));
  if (status == CUDA_ERROR_OUT_OF_MEMORY)
    return outOfMemory(bytes, what);
  APRT_TRY(driver.check(status, "cuMemAlloc"));
  result = reinterpret_cast<void *>(uintptr_t(address));
  blocks[result] = {bytes, &counter};
  counter.add(bytes);
  return Status::success();
}

Status CudaContext::release(void *address) {
  if (!address)
    return Status::success();
  auto found = blocks.find(address);
  if (found == blocks.end())
    return Status::error("memory is released that was never allocated");
  APRT_TRY(waitForAll());
  Block block = found->second;
  blocks.erase(found);
  block.counter->remove(block.bytes);
  ++generation;
  return driver.check(driver.cuMemFree_v2(deviceAddress(address)), "cuMemFree");
}

Status CudaContext::reserveWorkspace(int64_t bytes) {
  if (bytes <= scratchBytes)
    return Status::success();
  if (capturing)
    return Status::error("a library call asks for more workspace than before");
  APRT_TRY(release(scratch));
  scratch = nullptr;
  scratchBytes = 0; // what is left if there is no memory
  APRT_TRY(
      allocate(bytes, "the library's workspace", memory.workspace, scratch));
  scratchBytes = bytes;
  return Status::success();
}

Status CudaContext::reserveZeros(int64_t bytes) {
  if (bytes <= zeroBytes)
    return Status::success();
  if (capturing)
    return Status::error("an empty sum asks for more zeros than before");
  APRT_TRY(release(zeroBlock));
  zeroBlock = nullptr;
  zeroBytes = 0; // what is left if there is no memory
  APRT_TRY(
      allocate(bytes, "zeros for empty sums", memory.workspace, zeroBlock));
  APRT_CUDA(driver, cuMemsetD8Async, deviceAddress(zeroBlock), 0, size_t(bytes),
            current);
  zeroBytes = bytes;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// A real GPU does not say whose work failed.
Status CudaContext::asynchronous(Status status) const {
  if (status.ok() || driver.setLabel)
    return status;
  return Status::error(
      status.message() +
      "; work that was put on the GPU before failed: with --graphs off and "
      "CUDA_LAUNCH_BLOCKING=1 in the environment the op is named");
}

Status CudaContext::wait(const char *call,
                         const std::function<CUresult()> &query) {
  constexpr int spins = 200;
  constexpr long napNanoseconds = 50000;
  double start = 0;
  for (int64_t looks = 0;; ++looks) {
    CUresult result = query();
    if (result != CUDA_ERROR_NOT_READY)
      return asynchronous(driver.check(result, call));
    double waited = looks ? monotonicSeconds() - start : 0;
    if (looks == 0)
      start = monotonicSeconds();
    if (poll)
      APRT_TRY(poll(waited));
    if (!options.spin) {
      timespec nap = {0, napNanoseconds};
      nanosleep(&nap, nullptr);
    } else if (looks < spins) {
      spinPause();
    } else {
      sched_yield();
    }
  }
}

Status CudaContext::waitFor(CUevent event) {
  return wait("cuEventQuery", [&] { return driver.cuEventQuery(event); });
}

Status CudaContext::waitForAll() {
  for (CUstream stream : streams)
    APRT_TRY(
        wait("cuStreamQuery", [&] { return driver.cuStreamQuery(stream); }));
  return wait("cuStreamQuery", [&] { return driver.cuStreamQuery(copies); });
}

Status CudaContext::agree(bool mine, bool &all) {
  all = mine;
  if (!agreement)
    return Status::success();
  APRT_TRY(waitForAll());
  return agreement(mine, all);
}

} // namespace autopar::runtime
