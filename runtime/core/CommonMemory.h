//===- CommonMemory.h - Memory of a rank's entries --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_COMMONMEMORY_H
#define AUTOPAR_RUNTIME_CORE_COMMONMEMORY_H

#include "Device.h"

#include <map>
#include <unordered_map>

namespace autopar::runtime {

/// The device memory that the entries of one rank have in common: persistent
/// tensors that they store alike, each once, and the arena, which one step at a
/// time uses. The device of the entry that asked for memory first owns it and
/// must outlive the others.
class CommonMemory {
public:
  /// `arenaBytes`: of the entry whose steps need most.
  explicit CommonMemory(int64_t arenaBytes) : arenaBytes(arenaBytes) {}

  /// The tensor of this number, with one more user; null: no entry has it now.
  void *use(int number);
  /// An entry has made it and is its first user.
  void add(int number, Device &device, void *data);
  /// One user less; after the last one it is freed.
  Status drop(int number);

  /// Gives a tensor that nothing writes any more way to an equal one of another
  /// entry, or keeps it for those to come.
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
