//===- NcclRegion.h - What members of a communicator share ------*- C++ -*-===//
//
// Every emulated communicator has one anonymous file that all its members map.
// It is named by a process and a descriptor of it, so that nothing is left
// behind however the members end. A member holds a lock in the file while its
// process lives: the system drops it when the process dies.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_NCCLREGION_H
#define AUTOPAR_RUNTIME_EMULATED_NCCLREGION_H

#include "../core/Status.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace autopar::runtime::emulated {

/// Which file: /proc/PID/fd/DESCRIPTOR, if it holds the nonce.
struct RegionName {
  int32_t process = 0;
  int32_t descriptor = -1;
  uint64_t nonce = 0;
};

enum class CallKind : int32_t {
  allReduce,
  allGather,
  reduceScatter,
  broadcast,
  reduce,
  send,
  receive
};

/// What a member does, for the others to compare and for messages.
struct CallRecord {
  static constexpr int opBytes = 160;
  CallKind kind = CallKind::allReduce;
  int32_t type = 0;      // ncclDataType_t
  int32_t reduction = 0; // ncclRedOp_t, or 0
  int32_t root = 0;      // or peer
  int64_t count = 0;
  char op[opBytes] = {}; // the program's op
};

/// "ncclAllReduce of 128 f32, sum, in op '/MatMul'".
std::string describe(const CallRecord &call);

/// A message from one member to another.
struct Mail {
  std::atomic<uint32_t> posted;
  std::atomic<uint32_t> taken;
  int64_t offset; // in the sender's data
  CallRecord call;
};

enum class SeatState : uint32_t { empty, here, finalized, gone, aborted };

/// What a rank's communication waits for, in the region of the communicator
/// that all ranks share.
struct WaitNote {
  static constexpr int maxRanks = 256;
  std::atomic<uint32_t> version; // odd while it changes
  std::atomic<uint32_t> looks;   // how often the rank found it still true
  std::atomic<uint64_t> ranks[maxRanks / 64]; // waited for; 0: no wait
  CallRecord call;
};

/// One member's part; nobody else writes it.
struct alignas(64) Seat {
  std::atomic<SeatState> state;
  std::atomic<uint32_t> posted;   // collectives whose call and data are there
  std::atomic<uint32_t> consumed; // collectives whose data it has read
  int32_t worldRank;
  CallRecord call;

  std::atomic<uint32_t> splitsPosted;
  std::atomic<uint32_t> splitsRead;
  int32_t color, key;
  RegionName child; // candidate for the group's region

  WaitNote wait;
};

class NcclRegion {
public:
  NcclRegion() = default;
  NcclRegion(const NcclRegion &) = delete;
  NcclRegion &operator=(const NcclRegion &) = delete;
  ~NcclRegion() { close(); }

  /// A new file, which others can open until closeCreated().
  static Status create(RegionName &name);
  /// Takes seat `member` of `members`. All must say the same number.
  Status attach(const RegionName &name, int members, int member,
                int32_t worldRank);
  bool allAttached() const;
  void close();

  bool isOpen() const { return base; }
  int members() const { return count; }
  Seat &seat(int member) const;
  Mail &mail(int from, int to) const;
  /// The place for the data that a member gives to others.
  static constexpr int64_t dataBytes = int64_t(1) << 34;
  char *data(int member) const;

  /// False if the member's process died while it had a seat.
  bool isAlive(int member) const;

  /// The first failure, for all members to see.
  void fail(const std::string &text) const;
  bool failed(std::string &text) const;

private:
  struct Header;
  Header *header() const { return static_cast<Header *>(base); }
  int64_t bytesBeforeData() const;
  Status map(const RegionName &name);

  void *base = nullptr;
  int64_t mapped = 0;
  int count = 0;
  int self = -1;
  int file = -1; // a description of this process's own: it holds the lock
};

/// Closes a file that create() of this process made.
void closeCreated(const RegionName &name);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_NCCLREGION_H
