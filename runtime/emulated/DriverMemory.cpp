//===- DriverMemory.cpp - Emulated driver: memory, copies, fills ----------===//

#include "Driver.h"

#include <cstring>

namespace autopar::runtime::emulated {

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuMemAlloc", nullptr);
  if (bytes == 0)
    return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc of 0 bytes");
  return gpu().memory.allocate(*address, bytes,
                               size_t(gpu().options.memoryBytes));
}

/// Frees what begins there, if the host knows that all work on it is done.
static CUresult release(CUdeviceptr address, bool pinned, const char *call) {
  DeviceMemory &memory = gpu().memory;
  Queues &queues = gpu().queues;
  Allocation *allocation = memory.toRelease(address, pinned, call);
  if (!allocation)
    return faultCode();
  if (auto use = queues.races.pending(address, allocation->end(),
                                      /*writes=*/true, queues.hostClock))
    return fault(FaultKind::freedInUse,
                 std::string(call) + " of " + memory.describe(address) +
                     ", which '" + use->other.name->op + "' on " +
                     use->other.name->stream +
                     " may not have done with: wait for that first");
  queues.races.forget(address, allocation->end());
  memory.release(*allocation);
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuMemFree", nullptr);
  return address ? release(address, false, "cuMemFree") : CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  APEMU_READY();
  *total = size_t(gpu().options.memoryBytes);
  *free = *total - gpu().memory.usedBytes();
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuMemHostAlloc", nullptr);
  if (bytes == 0)
    return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemHostAlloc of 0 bytes");
  return gpu().memory.allocatePinned(*memory, bytes);
}

CUresult cuMemFreeHost(void *memory) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuMemFreeHost", nullptr);
  return memory ? release(CUdeviceptr(memory), true, "cuMemFreeHost")
                : CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuMemHostRegister", nullptr);
  if (!memory || bytes == 0 || flags || isDeviceAddress(CUdeviceptr(memory)))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "cuMemHostRegister of no host memory, or with flags");
  return gpu().memory.registerHost(memory, bytes);
}

CUresult cuMemHostUnregister(void *memory) {
  APEMU_READY();
  APEMU_NOT_CAPTURED("cuMemHostUnregister", nullptr);
  Allocation *found = gpu().memory.find(CUdeviceptr(memory));
  if (!found || !found->registered || found->address != CUdeviceptr(memory))
    return refuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                  "cuMemHostUnregister of memory that was not registered");
  return release(CUdeviceptr(memory), true, "cuMemHostUnregister");
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory,
                                      unsigned) {
  APEMU_READY();
  if (!gpu().memory.isPinned(memory))
    return refuse(CUDA_ERROR_INVALID_VALUE, "not pinned host memory");
  *address = CUdeviceptr(memory);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// CU_DEVICE_ATTRIBUTE_MAX_PITCH of all GPUs.
static constexpr size_t maxPitch = 2147483647;

/// One side of a copy: `rows` times `bytes`, `pitch` apart.
struct Side {
  bool host = false;
  CUdeviceptr address = 0; // or the host's
  size_t pitch = 0;
};

static bool isPageable(const Side &side) {
  return side.host &&
         !gpu().memory.isPinned(reinterpret_cast<void *>(side.address));
}

static char *bytesOf(const Side &side) {
  return side.host ? reinterpret_cast<char *>(side.address)
                   : memory(side.address);
}

static CUresult checkSide(const Side &side, const std::string &name) {
  if (side.host && isDeviceAddress(side.address))
    return fault(FaultKind::devicePointer,
                 "'" + labelled(name) + "' has " +
                     gpu().memory.describe(side.address) +
                     " where host memory belongs");
  return CUDA_SUCCESS;
}

static void copyRows(char *to, size_t toPitch, const char *from,
                     size_t fromPitch, size_t bytes, size_t rows) {
  for (size_t row = 0; row < rows; ++row)
    std::memmove(to + row * toPitch, from + row * fromPitch, bytes);
}

static bool overlap(const Side &to, const Side &from, size_t bytes,
                    size_t rows) {
  CUdeviceptr toEnd = to.address + (rows - 1) * to.pitch + bytes;
  CUdeviceptr fromEnd = from.address + (rows - 1) * from.pitch + bytes;
  if (to.address >= fromEnd || from.address >= toEnd)
    return false;
  if (rows == 1 || to.pitch != from.pitch)
    return true;
  // Rows of one pitched array: columns apart are apart.
  CUdeviceptr distance =
      (to.address > from.address ? to.address - from.address
                                 : from.address - to.address) %
      to.pitch;
  return distance < bytes || to.pitch - distance < bytes;
}

/// Pageable memory is read when the call is made: CUDA stages it.
static std::shared_ptr<std::vector<char>> stage(const Side &from, size_t bytes,
                                                size_t rows) {
  auto staged = std::make_shared<std::vector<char>>(bytes * rows);
  copyRows(staged->data(), bytes, bytesOf(from), from.pitch, bytes, rows);
  return staged;
}

/// Enqueues a copy between any two sides. A copy to pageable memory is done
/// when the call returns.
static CUresult copy(std::string name, const Side &to, const Side &from,
                     size_t bytes, size_t rows, CUstream stream) {
  APEMU_READY();
  if (bytes == 0 || rows == 0)
    return CUDA_SUCCESS;
  for (const Side *side : {&to, &from})
    if (CUresult code = checkSide(*side, name))
      return code;
  if (!to.host && !from.host && overlap(to, from, bytes, rows))
    return fault(FaultKind::overlap, "'" + labelled(name) + "' from " +
                                         gpu().memory.describe(from.address) +
                                         " to " +
                                         gpu().memory.describe(to.address));
  bool stagedFrom = isPageable(from), stagedTo = isPageable(to);
  if ((stagedFrom || stagedTo) && isCapturing(stream))
    if (CUresult code =
            gpu().graphs.mayCall("a copy of host memory that is not pinned",
                                 gpu().queues.find(stream)))
      return code;
  Work work;
  work.name = std::move(name);
  work.copiesHost = true;
  // Between device memories uninitialised bytes are copied as such.
  bool move = !to.host && !from.host;
  if (!stagedFrom)
    work.ranges.push_back({from.address, bytes, move ? accessMove : accessRead,
                           "its source", rows, from.pitch});
  if (!stagedTo)
    work.ranges.push_back({to.address, bytes,
                           move ? accessWrite | accessUnchecked : accessWrite,
                           "its destination", rows, to.pitch});
  std::shared_ptr<std::vector<char>> staged;
  if (stagedFrom) {
    staged = stage(from, bytes, rows);
    work.stagedBytes = staged->size();
  }
  work.body = [=] {
    copyRows(bytesOf(to), to.pitch, staged ? staged->data() : bytesOf(from),
             staged ? bytes : from.pitch, bytes, rows);
    for (size_t row = 0; move && row < rows; ++row)
      copyInitialised(to.address + row * to.pitch,
                      from.address + row * from.pitch, bytes);
  };
  if (CUresult code = enqueue(stream, std::move(work)))
    return code;
  return stagedTo ? cuStreamSynchronize(stream) : CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
  return copy("cuMemcpyHtoDAsync", {false, to, bytes},
              {true, CUdeviceptr(from), bytes}, bytes, 1, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  return copy("cuMemcpyDtoHAsync", {true, CUdeviceptr(to), bytes},
              {false, from, bytes}, bytes, 1, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  return copy("cuMemcpyDtoDAsync", {false, to, bytes}, {false, from, bytes},
              bytes, 1, stream);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy2D, CUstream stream) {
  const CUDA_MEMCPY2D &it = *copy2D;
  auto isKind = [](CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE;
  };
  if (!isKind(it.srcMemoryType) || !isKind(it.dstMemoryType))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "cuMemcpy2DAsync: only host and device memory are emulated");
  if (it.Height > 1 && (it.WidthInBytes + it.srcXInBytes > it.srcPitch ||
                        it.WidthInBytes + it.dstXInBytes > it.dstPitch))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "cuMemcpy2DAsync: rows of " +
                      std::to_string(it.WidthInBytes) +
                      " bytes reach over "
                      "the pitch (" +
                      std::to_string(it.srcPitch) + ", " +
                      std::to_string(it.dstPitch) + ")");
  if (std::max(it.srcPitch, it.dstPitch) > maxPitch)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "cuMemcpy2DAsync: a pitch of more than " +
                      std::to_string(maxPitch) + " bytes");
  bool fromHost = it.srcMemoryType == CU_MEMORYTYPE_HOST;
  bool toHost = it.dstMemoryType == CU_MEMORYTYPE_HOST;
  Side from{fromHost, fromHost ? CUdeviceptr(it.srcHost) : it.srcDevice,
            it.srcPitch};
  Side to{toHost, toHost ? CUdeviceptr(it.dstHost) : it.dstDevice, it.dstPitch};
  from.address += it.srcY * it.srcPitch + it.srcXInBytes;
  to.address += it.dstY * it.dstPitch + it.dstXInBytes;
  return copy("cuMemcpy2DAsync", to, from, it.WidthInBytes, it.Height, stream);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

template <typename T>
static CUresult fill(const char *name, CUdeviceptr to, size_t pitch, T value,
                     size_t width, size_t height, CUstream stream) {
  APEMU_READY();
  if (width == 0 || height == 0)
    return CUDA_SUCCESS;
  if (to % sizeof(T) ||
      (height > 1 && (pitch % sizeof(T) || pitch < width * sizeof(T))))
    return refuse(CUDA_ERROR_INVALID_VALUE, std::string(name) +
                                                ": address or pitch do not fit "
                                                "elements of " +
                                                std::to_string(sizeof(T)) +
                                                " bytes");
  Work work;
  work.name = name;
  work.ranges.push_back(
      {to, width * sizeof(T), accessWrite, "its destination", height, pitch});
  work.body = [=] {
    for (size_t row = 0; row < height; ++row)
      std::fill_n(memoryAs<T>(to + row * pitch), width, value);
  };
  return enqueue(stream, std::move(work));
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream stream) {
  return fill("cuMemsetD8Async", to, 0, value, count, 1, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                          CUstream stream) {
  return fill("cuMemsetD16Async", to, 0, value, count, 1, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                          CUstream stream) {
  return fill("cuMemsetD32Async", to, 0, value, count, 1, stream);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value,
                           size_t width, size_t height, CUstream stream) {
  return fill("cuMemsetD2D8Async", to, pitch, value, width, height, stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value,
                            size_t width, size_t height, CUstream stream) {
  return fill("cuMemsetD2D16Async", to, pitch, value, width, height, stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value,
                            size_t width, size_t height, CUstream stream) {
  return fill("cuMemsetD2D32Async", to, pitch, value, width, height, stream);
}

} // namespace autopar::runtime::emulated
