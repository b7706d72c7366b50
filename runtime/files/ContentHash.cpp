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

void ContentHash::addStripe(const unsigned char *stripe) {
  for (int lane = 0; lane < 4; ++lane)
    lanes[lane] = mixLane(lanes[lane], load<uint64_t>(stripe + 8 * lane));
}

void ContentHash::add(const void *data, size_t bytes) {
  const auto *at = static_cast<const unsigned char *>(data);
  size_t held = total % 32;
  total += bytes;
  if (held > 0) {
    size_t taken = std::min(bytes, 32 - held);
    std::memcpy(rest + held, at, taken);
    at += taken;
    bytes -= taken;
    if (held + taken < 32)
      return;
    addStripe(rest);
  }
  for (; bytes >= 32; bytes -= 32, at += 32)
    addStripe(at);
  if (bytes > 0)
    std::memcpy(rest, at, bytes);
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
