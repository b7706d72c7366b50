//===- Workspace.h - Scratch of library calls -------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_WORKSPACE_H
#define AUTOPAR_RUNTIME_CPU_WORKSPACE_H

#include "../core/Memory.h"

namespace autopar::runtime {

/// One block of scratch per thread of a rank, one for all of them and one for a
/// filter in the library's layout, each as large as the largest that any
/// library call asked for. A call's scratch means nothing after the call.
class Workspace {
public:
  Workspace(int threads, MemoryCounter &memory)
      : threads(threads), memory(memory) {}

  /// Makes every block at least so large; addresses may change.
  Status reserve(int64_t bytes) {
    constexpr int64_t line = 64;
    bytes = (bytes + line - 1) / line * line;
    if (bytes <= blockBytes)
      return Status::success();
    blocks.release();
    blockBytes = 0; // what is left if there is no memory
    APRT_TRY(
        blocks.allocate(bytes * threads, "the library's workspace", &memory));
    blockBytes = bytes;
    return Status::success();
  }

  /// Makes the block that all threads of a call share at least so large.
  Status reserveShared(int64_t bytes) { return grow(shared, bytes); }
  /// The same for a call's filter.
  Status reserveFilter(int64_t bytes) { return grow(filter, bytes); }

  void *sharedBlock() const { return shared.data(); }
  void *filterBlock() const { return filter.data(); }

  void *block(int64_t thread) const {
    return static_cast<char *>(blocks.data()) + thread % threads * blockBytes;
  }

private:
  Status grow(Buffer &buffer, int64_t bytes) {
    if (bytes <= buffer.size())
      return Status::success();
    buffer.release();
    return buffer.allocate(bytes, "a call's workspace", &memory);
  }

  int threads;
  MemoryCounter &memory;
  int64_t blockBytes = 0;
  Buffer blocks, shared, filter;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_WORKSPACE_H
