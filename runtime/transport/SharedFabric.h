//===- SharedFabric.h - The memory that ranks of a host share ---*- C++ -*-===//
//
// Made once before the ranks are there, of memory that all of them see. Pages
// are touched only when used.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_SHAREDFABRIC_H
#define AUTOPAR_RUNTIME_TRANSPORT_SHAREDFABRIC_H

#include "../core/Manifest.h"
#include "../core/SharedMemory.h"
#include "RankFabric.h"
#include "SharedWait.h"
#include "autopar/shared_memory.h"

#include <vector>

namespace autopar::runtime {

/// One group of a communicator: a counter and two staging buffers per member,
/// no larger than its collectives need.
/// A member that has met the others in round r+1 knows that they are done with
/// the buffers of round r, so that two buffers need one meeting per round.
class SharedGroup {
public:
  /// `messageBytes`: the most that one collective moves; 0: it has none.
  Status create(std::vector<int> ranks, int64_t messageBytes,
                SharedMemory &shared);

  int members() const { return int(ranks.size()); }
  int rankOf(int member) const { return ranks[member]; }
  int indexOf(int rank) const;
  SharedCounter &arrived(int member) const { return counters()[member]; }
  char *staging(int member, uint32_t round) const {
    return static_cast<char *>(stagingMemory.data()) +
           (2 * int64_t(member) + (round & 1)) * staged;
  }
  /// Of one staging buffer.
  int64_t stagingBytes() const { return staged; }
  /// What the group's members share.
  int64_t bytes() const { return stagingMemory.size(); }

private:
  SharedCounter *counters() const {
    return static_cast<SharedCounter *>(counterMemory.data());
  }

  std::vector<int> ranks;
  int64_t staged = 0;
  Buffer counterMemory;
  Buffer stagingMemory;
};

/// Says that member `index` of the group is at meeting number `sequence`, and
/// waits until all are; a failure names those that are missing. Adds the time
/// to `waitedSeconds`.
Status meetGroup(const SharedGroup &group, int index, uint32_t sequence,
                 const Waiter &waiter, bool withDeadline,
                 double &waitedSeconds);

/// A rank's progress, word by word: what is read may be a moment old.
class SharedProgress {
public:
  void store(const RankProgress &progress) {
    for (int i = 0; i < RankProgress::maxStreams; ++i) {
      begun[i].store(progress.begun[i], std::memory_order_relaxed);
      done[i].store(progress.done[i], std::memory_order_relaxed);
    }
    step.store(progress.step, std::memory_order_release);
  }
  RankProgress load() const {
    RankProgress progress;
    progress.step = step.load(std::memory_order_acquire);
    for (int i = 0; i < RankProgress::maxStreams; ++i) {
      progress.begun[i] = begun[i].load(std::memory_order_relaxed);
      progress.done[i] = done[i].load(std::memory_order_relaxed);
    }
    return progress;
  }

private:
  std::atomic<uint32_t> step{0};
  std::atomic<uint32_t> begun[RankProgress::maxStreams]{};
  std::atomic<uint32_t> done[RankProgress::maxStreams]{};
};

/// The ring of one channel between one pair of ranks.
class SharedRing {
public:
  Status create(int64_t slotBytes, int64_t slots, SharedMemory &shared);

  int64_t capacity() const { return slotBytes; }
  uint32_t slots() const { return slotCount; }
  int64_t bytes() const { return memory.size(); }
  SharedCounter &produced() const { return header()->produced; }
  SharedCounter &consumed() const { return header()->consumed; }
  /// Length of the message in a slot, and its bytes.
  int64_t &length(uint32_t sequence) const;
  char *slot(uint32_t sequence) const;

private:
  struct Header {
    SharedCounter produced;
    SharedCounter consumed;
  };
  static_assert(sizeof(Header) == shared_memory::kRingHeader);
  Header *header() const { return static_cast<Header *>(memory.data()); }

  int64_t slotBytes = 0;
  int64_t slotPitch = 0;
  uint32_t slotCount = 1;
  Buffer memory;
};

class SharedFabric {
public:
  /// `stagesData`: collectives and messages pass through this memory, which
  /// they do not where devices exchange data themselves.
  Status create(const Manifest &manifest, SharedMemory &shared,
                bool stagesData = true);

  /// The group of `comm` that holds `rank`, or null.
  SharedGroup *groupOf(int comm, int rank);
  SharedGroup &world() { return worldGroup; }
  /// The ring of `channel` for the pair with this index in its stages, or null.
  SharedRing *ring(int channel, int device);
  /// What the rank's collectives and messages pass through.
  int64_t bytesOf(const Manifest &manifest, int rank);

  /// Where SharedRankFabric leaves a few bytes for all ranks.
  char *board() { return static_cast<char *>(boardMemory.data()); }
  SharedProgress &progress(int rank) {
    return static_cast<SharedProgress *>(progressMemory.data())[rank];
  }

  /// Ends every wait of every rank.
  std::atomic<uint32_t> &aborted() {
    return *static_cast<std::atomic<uint32_t> *>(flags.data());
  }

private:
  Status createData(const Manifest &manifest, SharedMemory &shared);

  Buffer flags;
  Buffer boardMemory;
  Buffer progressMemory;
  SharedGroup worldGroup;
  std::vector<std::vector<SharedGroup>> groups; // by communicator
  std::vector<std::vector<SharedRing>> rings;   // by channel, then device
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_SHAREDFABRIC_H
