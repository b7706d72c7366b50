//===- ArrayBytes.h - Memory of arrays that kernels read --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ARRAYBYTES_H
#define AUTOPAR_RUNTIME_CORE_ARRAYBYTES_H

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace autopar::runtime {

/// Allocates memory aligned to a cache line, and large blocks to huge pages,
/// because kernels read inputs where the launcher has put them.
template <typename T> struct ArrayAllocator {
  using value_type = T;
  ArrayAllocator() = default;
  template <typename U> ArrayAllocator(const ArrayAllocator<U> &) {}

  T *allocate(size_t count) {
    size_t bytes = count * sizeof(T);
    bool isLarge = bytes >= (4 << 20);
    void *memory = nullptr;
    if (posix_memalign(&memory, isLarge ? hugePage : cacheLine, bytes) != 0)
      throw std::bad_alloc();
    if (isLarge)
      madvise(memory, bytes, MADV_HUGEPAGE); // advice only
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, size_t) { std::free(memory); }

  template <typename U> bool operator==(const ArrayAllocator<U> &) const {
    return true;
  }
  template <typename U> bool operator!=(const ArrayAllocator<U> &) const {
    return false;
  }

  static constexpr size_t cacheLine = 64, hugePage = 2 << 20;
};

using ArrayBytes = std::vector<char, ArrayAllocator<char>>;

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_ARRAYBYTES_H
