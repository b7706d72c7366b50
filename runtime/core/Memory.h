//===- Memory.h - Buffers and their accounting ------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_MEMORY_H
#define AUTOPAR_RUNTIME_CORE_MEMORY_H

#include "Status.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace autopar::runtime {

/// Counts the current and the peak bytes that the runtime holds on a rank. A
/// counter of one kind of memory is part of another counter.
class MemoryCounter {
public:
  explicit MemoryCounter(MemoryCounter *whole = nullptr) : whole(whole) {}
  MemoryCounter(const MemoryCounter &) = delete;
  MemoryCounter &operator=(const MemoryCounter &) = delete;

  void add(int64_t bytes) {
    current += bytes;
    peak = std::max(peak, current);
    if (whole)
      whole->add(bytes);
  }
  void remove(int64_t bytes) {
    current -= bytes;
    if (whole)
      whole->remove(bytes);
  }
  int64_t currentBytes() const { return current; }
  int64_t peakBytes() const { return peak; }

private:
  MemoryCounter *whole;
  int64_t current = 0;
  int64_t peak = 0;
};

/// The memory of a rank's device, by kind.
struct RankMemory {
  MemoryCounter whole;
  MemoryCounter persistent{&whole};
  MemoryCounter packed{&whole};
  MemoryCounter arena{&whole};
  MemoryCounter workspace{&whole};
  MemoryCounter communication{&whole};
  MemoryCounter pinned; // of the host, beside the device's
};

/// An anonymous mapping: zeroed, at least 64-byte aligned, returned to the
/// system when released. Shared mappings stay shared with forked processes.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { release(); }

  /// Maps `bytes`; 0 gives a valid pointer too. `counter` may be null and must
  /// outlive the buffer.
  Status allocate(int64_t bytes, const char *what, MemoryCounter *counter);
  Status allocateShared(int64_t bytes, const char *what);
  /// Maps `bytes` of a file, beginning at a page.
  Status mapShared(int descriptor, int64_t begin, int64_t bytes,
                   const char *what);
  void release();

  void *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  Status map(int64_t bytes, const char *what, int flags, int descriptor = -1,
             int64_t begin = 0);
  void swap(Buffer &other) noexcept {
    std::swap(base, other.base);
    std::swap(bytes, other.bytes);
    std::swap(counter, other.counter);
  }

  void *base = nullptr;
  int64_t bytes = 0;
  MemoryCounter *counter = nullptr;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_MEMORY_H
