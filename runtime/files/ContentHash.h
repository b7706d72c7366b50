//===- ContentHash.h - What a file held -------------------------*- C++ -*-===//
//
// XXH64 with seed 0: the hash by which an executable knows the files that it
// was compiled from. It finds accidents, not attacks.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_FILES_CONTENTHASH_H
#define AUTOPAR_RUNTIME_FILES_CONTENTHASH_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace autopar::runtime {

/// The hash of all bytes added, however they were cut into pieces.
class ContentHash {
public:
  void add(const void *data, size_t bytes);
  uint64_t value() const;

private:
  void addStripes(const unsigned char *at, size_t count);

  uint64_t lanes[4] = {0x60ea27eeadc0b5d6u, 0xc2b2ae3d27d4eb4fu, 0,
                       0x61c8864e7a143579u};
  unsigned char rest[32] = {}; // bytes that make no whole stripe yet
  uint64_t total = 0;
};

/// 16 digits.
std::string formatHash(uint64_t hash);
/// False unless `text` is what formatHash writes.
bool parseHash(const std::string &text, uint64_t &hash);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_CONTENTHASH_H
