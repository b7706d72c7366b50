//===- PackedStore.h - Packed weights that entries share --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_PACKEDSTORE_H
#define AUTOPAR_RUNTIME_CPU_PACKEDSTORE_H

#include "../core/Memory.h"

#include <memory>
#include <unordered_map>

namespace autopar::runtime {

/// The packed weights of a rank whose program has several entries: equal bytes
/// are there once, whichever entries packed them.
class PackedStore {
public:
  /// The same bytes that were kept before, or these.
  std::shared_ptr<Buffer> keep(std::shared_ptr<Buffer> made);

private:
  std::unordered_multimap<uint64_t, std::weak_ptr<Buffer>> kept; // by hash
};

/// A packed weight. Nothing writes it once it is shared.
class PackedBytes {
public:
  Status allocate(int64_t bytes, const char *what, MemoryCounter *counter) {
    buffer = std::make_shared<Buffer>();
    return buffer->allocate(bytes, what, counter);
  }
  /// Null before allocate().
  void *data() const { return buffer ? buffer->data() : nullptr; }
  /// Gives way to the same bytes in the store; null: there is none.
  void shareIn(PackedStore *store) {
    if (store && buffer)
      buffer = store->keep(std::move(buffer));
  }

private:
  std::shared_ptr<Buffer> buffer;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_PACKEDSTORE_H
