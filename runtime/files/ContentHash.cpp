//===- ContentHash.cpp - What a file held ---------------------------------===//

#include "ContentHash.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime {

static constexpr uint64_t prime1 = 0x9e3779b185ebca87u;
static constexpr uint64_t prime2 = 0xc2b2ae3d27d4eb4fu;
static constexpr uint64_t prime3 = 0x165667b19e3779f9u;
static constexpr uint64_t prime4 = 0x85ebca77c2b2ae63u;
static constexpr uint64_t prime5 = 0x27d4eb2f165667c5u;

static uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

template <typename Word> static Word load(const unsigned char *from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

static uint64_t mixLane(uint64_t lane, uint64_t word) {
  return rotate(lane + word * prime2, 31) * prime1;
}

/// So far ahead of what is hashed memory is asked for: twice as fast as
/// without.
static constexpr size_t prefetchBytes = 2048;

/// The lanes are in registers meanwhile.
template <typename Look>
void ContentHash::addStripes(const unsigned char *at, size_t count,
                             Look &&look) {
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  for (; count > 0; --count, at += stripeBytes) {
    __builtin_prefetch(at + prefetchBytes);
    auto take = [&](uint64_t lane, size_t offset) {
      auto word = load<uint64_t>(at + offset);
      look(word);
      return mixLane(lane, word);
    };
    a = take(a, 0);
    b = take(b, 8);
    c = take(c, 16);
    d = take(d, 24);
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

template <typename Look>
void ContentHash::addBytes(const void *data, size_t bytes, Look &&look) {
  const auto *at = static_cast<const unsigned char *>(data);
  size_t held = total % stripeBytes;
  total += bytes;
  if (held > 0) {
    size_t taken = std::min(bytes, stripeBytes - held);
    std::memcpy(rest + held, at, taken);
    at += taken;
    bytes -= taken;
    if (held + taken < stripeBytes)
      return;
    addStripes(rest, 1, look);
  }
  size_t stripes = bytes / stripeBytes, left = bytes % stripeBytes;
  addStripes(at, stripes, look);
  if (left > 0)
    std::memcpy(rest, at + stripes * stripeBytes, left);
}

void ContentHash::add(const void *data, size_t bytes) {
  addBytes(data, bytes, [](uint64_t) {});
}

void ContentHash::add(const void *data, size_t bytes, WordTest &test) {
  WordTest inRegisters = test;
  addBytes(data, bytes, [&](uint64_t word) { inRegisters.add(word); });
  test.found = inRegisters.found;
}

uint64_t ContentHash::value() const {
  uint64_t hash = prime5;
  if (total >= 32) {
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
           rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ mixLane(0, lane)) * prime1 + prime4;
  }
  hash += total;
  const unsigned char *at = rest, *end = rest + total % 32;
  for (; end - at >= 8; at += 8)
    hash = rotate(hash ^ mixLane(0, load<uint64_t>(at)), 27) * prime1 + prime4;
  for (; end - at >= 4; at += 4)
    hash = rotate(hash ^ load<uint32_t>(at) * prime1, 23) * prime2 + prime3;
  for (; at < end; ++at)
    hash = rotate(hash ^ *at * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

std::string formatHash(uint64_t hash) {
  std::string text(16, '0');
  for (size_t digit = 16; digit-- > 0; hash >>= 4)
    text[digit] = "0123456789abcdef"[hash & 15];
  return text;
}

bool parseHash(const std::string &text, uint64_t &hash) {
  hash = 0;
  for (char letter : text) {
    const char *digits = "0123456789abcdef";
    const char *digit = letter ? std::strchr(digits, letter) : nullptr;
    if (!digit)
      return false;
    hash = hash << 4 | uint64_t(digit - digits);
  }
  return text.size() == 16;
}

} // namespace autopar::runtime
