//===- CommonMemory.h - Memory of a rank's entries --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_COMMONMEMORY_H
#define AUTOPAR_RUNTIME_CORE_COMMONMEMORY_H

#include "Device.h"

#include <map>
#include <unordered_map>

namespace autopar::runtime {

/// The device memory that the entries of one rank share. It has persistent
/// tensors that entries store alike, each once, and the arena, which one step
/// at a time uses. The device of the entry that first requested memory owns it
/// and must outlive the others.
class CommonMemory {
public:
  /// `arenaBytes` is the size for the entry whose steps need most.
  explicit CommonMemory(int64_t arenaBytes) : arenaBytes(arenaBytes) {}

  /// Returns the tensor of this number and adds a user, or returns null if no
  /// entry has it now.
  void *use(int number);
  /// Adds a tensor that an entry has made; the entry is its first user.
  void add(int number, Device &device, void *data);
  /// Removes a user. The tensor is freed after the last one.
  Status drop(int number);

  /// Replaces a tensor that nothing writes any more by an equal one of another
  /// entry, or keeps it for later entries.
  Status merge(Device &device, int64_t bytes, void *&data);

  Status takeArena(Device &device, MemoryCounter &counter, void *&arena);

private:
  struct Tensor {
    void *data = nullptr;
    Device *device = nullptr;
    int users = 0;
  };
  struct Constant {
    int64_t bytes = 0;
    void *data = nullptr;
  };

  const int64_t arenaBytes;
  void *arena = nullptr;
  std::map<int, Tensor> tensors;                         // by number
  std::unordered_multimap<uint64_t, Constant> constants; // by hash
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_COMMONMEMORY_H
