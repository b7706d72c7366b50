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

/// A test of words of 8 bytes that takes few operations: `found` collects the
/// bits of (word & mask) + addend.
struct WordTest {
  uint64_t mask = 0, addend = 0;
  uint64_t found = 0;

  void add(uint64_t word) { found |= (word & mask) + addend; }
};

/// The hash of all bytes added, however they were cut into pieces.
class ContentHash {
public:
  void add(const void *data, size_t bytes);
  /// Adds bytes and tests the words of each whole stripe in the same pass over
  /// memory. The bytes of an incomplete stripe are tested when a later call
  /// completes it, or not at all.
  void add(const void *data, size_t bytes, WordTest &test);
  static constexpr size_t stripeBytes = 32;
  uint64_t value() const;

private:
  template <typename Look>
  void addStripes(const unsigned char *at, size_t count, Look &&look);
  template <typename Look>
  void addBytes(const void *data, size_t bytes, Look &&look);

  uint64_t lanes[4] = {0x60ea27eeadc0b5d6u, 0xc2b2ae3d27d4eb4fu, 0,
                       0x61c8864e7a143579u};
  unsigned char rest[stripeBytes] = {}; // bytes that make no whole stripe yet
  uint64_t total = 0;
};

/// 16 digits.
std::string formatHash(uint64_t hash);
/// False unless `text` is what formatHash writes.
bool parseHash(const std::string &text, uint64_t &hash);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_CONTENTHASH_H
