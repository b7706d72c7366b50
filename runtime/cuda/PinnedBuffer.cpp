//===- PinnedBuffer.cpp - Host memory that a GPU copies from --------------===//

#include "PinnedBuffer.h"

namespace autopar::runtime {

Status PinnedBuffer::reserve(int64_t wanted, const char *what) {
  if (wanted <= bytes)
    return Status::success();
  APRT_TRY(release());
  void *memory = nullptr;
  Status status = context.driver.check(
      context.driver.cuMemHostAlloc(&memory, size_t(wanted), 0),
      "cuMemHostAlloc");
  if (status.failed())
    return Status::error("no page-locked host memory for " +
                         std::to_string(wanted) + " bytes of " + what + ": " +
                         status.message());
  base = static_cast<char *>(memory);
  bytes = wanted;
  context.memory.pinned.add(bytes);
  return Status::success();
}

Status PinnedBuffer::release() {
  if (!base)
    return Status::success();
  char *memory = std::exchange(base, nullptr);
  context.memory.pinned.remove(std::exchange(bytes, 0));
  return context.driver.check(context.driver.cuMemFreeHost(memory),
                              "cuMemFreeHost");
}

} // namespace autopar::runtime
