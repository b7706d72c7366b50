//===- shared_memory.h - Sizes of the memory ranks share --------*- C++ -*-===//
//
// The shared memory that collectives and messages between ranks of a host take.
// The runtime allocates it, and the compiler predicts it. All sizes are bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SHARED_MEMORY_H
#define AUTOPAR_SHARED_MEMORY_H

#include <algorithm>
#include <cstdint>

namespace autopar::shared_memory {

/// The part that a member writes begins on a line of the cache.
constexpr int64_t kLine = 64;
/// The most that one round of a collective moves at a time: both buffers of a
/// member stay in a core's cache, of 512 KiB and more.
constexpr int64_t kMostStaging = 256 << 10;
/// The bytes before the slots of a ring: counters of produced and consumed
/// messages.
constexpr int64_t kRingHeader = 2 * kLine;
/// Messages that a channel of a compiled program holds.
constexpr int64_t kChannelSlots = 2;

constexpr int64_t inLines(int64_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

/// One staging buffer for collectives of at most `message` bytes, some of which
/// give each member a part of the buffer, on a line.
constexpr int64_t stagingBytes(int64_t message, int64_t members) {
  return std::min(inLines(message) + kLine * members,
                  std::max(kMostStaging, kLine * members));
}

/// The two staging buffers of each member of a group.
constexpr int64_t groupBytes(int64_t message, int64_t members) {
  return 2 * members * stagingBytes(message, members);
}

/// One slot of a ring: the message's length on a line, then the message.
constexpr int64_t slotBytes(int64_t message) {
  return kLine + inLines(message);
}

constexpr int64_t ringBytes(int64_t message, int64_t slots) {
  return kRingHeader + slots * slotBytes(message);
}

} // namespace autopar::shared_memory

#endif // AUTOPAR_SHARED_MEMORY_H
