//===- WordKey.h - Descriptions as keys of a map ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_WORDKEY_H
#define AUTOPAR_RUNTIME_CORE_WORDKEY_H

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace autopar::runtime {

/// Hash and equality of structs that are nothing but 64-bit words.
struct WordKeyHash {
  template <typename Key> size_t operator()(const Key &key) const {
    static_assert(std::has_unique_object_representations_v<Key>);
    uint64_t words[sizeof(Key) / sizeof(uint64_t)];
    std::memcpy(words, &key, sizeof(key));
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint64_t word : words) {
      hash = (hash ^ word) * 0x100000001b3u;
      hash ^= hash >> 29;
    }
    return size_t(hash);
  }
};

struct WordKeyEqual {
  template <typename Key> bool operator()(const Key &a, const Key &b) const {
    static_assert(std::has_unique_object_representations_v<Key>);
    return std::memcmp(&a, &b, sizeof(Key)) == 0;
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_WORDKEY_H
