//===- Memory.cpp - Buffers and their accounting --------------------------===//

#include "Memory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace autopar::runtime {

Status Buffer::map(int64_t size, const char *what, int flags, int descriptor,
                   int64_t begin) {
  release();
  // At least one byte is mapped, so that an empty buffer has an address.
  size_t length = size_t(std::max<int64_t>(size, 1));
  void *address =
      mmap(nullptr, length, PROT_READ | PROT_WRITE,
           flags | (descriptor < 0 ? MAP_ANONYMOUS : 0), descriptor, begin);
  if (address == MAP_FAILED)
    return Status::error("cannot allocate " + std::to_string(size) +
                         " bytes for " + what + ": " + std::strerror(errno));
  base = address;
  bytes = size;
  return Status::success();
}

Status Buffer::allocate(int64_t size, const char *what,
                        MemoryCounter *memoryCounter) {
  APRT_TRY(map(size, what, MAP_PRIVATE | MAP_NORESERVE));
  if (size >= (4 << 20))
    madvise(base, size_t(size), MADV_HUGEPAGE); // advice only
  counter = memoryCounter;
  if (counter)
    counter->add(bytes);
  return Status::success();
}

Status Buffer::allocateShared(int64_t size, const char *what) {
  return map(size, what, MAP_SHARED | MAP_NORESERVE);
}

Status Buffer::mapShared(int descriptor, int64_t begin, int64_t size,
                         const char *what) {
  return map(size, what, MAP_SHARED | MAP_NORESERVE, descriptor, begin);
}

void Buffer::release() {
  if (!base)
    return;
  munmap(base, size_t(std::max<int64_t>(bytes, 1)));
  if (counter)
    counter->remove(bytes);
  base = nullptr;
  bytes = 0;
  counter = nullptr;
}

} // namespace autopar::runtime
