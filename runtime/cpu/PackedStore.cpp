//===- PackedStore.cpp - Packed weights that entries share ----------------===//

#include "PackedStore.h"

#include "../files/ContentHash.h"

#include <cstring>

namespace autopar::runtime {

std::shared_ptr<Buffer> PackedStore::keep(std::shared_ptr<Buffer> made) {
  size_t bytes = size_t(made->size());
  ContentHash hash;
  hash.add(made->data(), bytes);
  auto [first, last] = kept.equal_range(hash.value());
  for (auto it = first; it != last; ++it)
    if (std::shared_ptr<Buffer> other = it->second.lock())
      if (other->size() == made->size() &&
          std::memcmp(other->data(), made->data(), bytes) == 0)
        return other;
  kept.emplace(hash.value(), made);
  return made;
}

} // namespace autopar::runtime
