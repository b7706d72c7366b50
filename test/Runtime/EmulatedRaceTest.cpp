//===- EmulatedRaceTest.cpp - Race detectors against plain ones -----------===//
//
// Random programs, each step judged by the detector and by a plain oracle that
// keeps every access and compares it with all others.
//
//===----------------------------------------------------------------------===//

#include "emulated/Cells.h"
#include "emulated/RaceDetector.h"
#include "emulated/Random.h"

#include <gtest/gtest.h>

namespace autopar::runtime::emulated {
namespace {

//===----------------------------------------------------------------------===//
// Between streams
//===----------------------------------------------------------------------===//

struct PlainAccess {
  CUdeviceptr begin, end;
  bool writes;
  uint32_t actor;
  uint64_t sequence;
};

/// True if an earlier access conflicts with the last one.
bool plainConflict(const std::vector<PlainAccess> &all,
                   const VectorClock &clock) {
  const PlainAccess &last = all.back();
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const PlainAccess &other = all[i];
    bool overlap = other.begin < last.end && last.begin < other.end;
    bool ordered = clock.of(other.actor) >= other.sequence;
    if (overlap && (other.writes || last.writes) && !ordered)
      return true;
  }
  return false;
}

/// Runs one random program until its first race; how many accesses it had.
size_t runStreams(uint64_t seed) {
  constexpr uint32_t streams = 4;
  Random random(seed);
  RaceDetector detector;
  VectorClock clocks[streams], event;
  std::vector<PlainAccess> all;
  for (int step = 0; step < 300; ++step) {
    auto stream = uint32_t(random.below(streams));
    VectorClock &clock = clocks[stream];
    // Events are rarer in some programs: races come early or late.
    switch (random.below(3 + seed % 4)) {
    case 0:
      event = clock;
      continue;
    case 1:
      clock.join(event);
      continue;
    }
    CUdeviceptr begin = random.below(60);
    CUdeviceptr end = begin + 1 + random.below(8);
    bool writes = random.below(3) == 0;
    uint64_t sequence = clock.of(stream) + 1;
    clock.raise(stream, sequence);
    all.push_back({begin, end, writes, stream, sequence});
    auto found = detector.access(begin, end, writes,
                                 OpRef{stream, sequence, nullptr}, clock);
    bool expected = plainConflict(all, clock);
    EXPECT_EQ(found.has_value(), expected)
        << "seed " << seed << " step " << step;
    if (found || expected)
      break;
  }
  return all.size();
}

TEST(EmulatedRaces, StreamsAgreeWithAPlainDetector) {
  size_t accesses = 0;
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed)
    accesses += runStreams(seed);
  EXPECT_GT(accesses, 9000u); // programs do not all end at once
}

TEST(EmulatedRaces, ForgottenBytesAreNoConflict) {
  RaceDetector detector;
  VectorClock none;
  ASSERT_FALSE(detector.access(0, 16, true, OpRef{0, 1, nullptr}, none));
  detector.forget(4, 8);
  EXPECT_FALSE(detector.access(4, 8, true, OpRef{1, 1, nullptr}, none));
  EXPECT_TRUE(detector.pending(0, 4, false, none));
  EXPECT_TRUE(detector.access(8, 9, false, OpRef{1, 2, nullptr}, none));
}

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

struct ThreadAccess {
  uint32_t granule, thread, block;
  bool writes;
  uint64_t blockBarriers, warpBarriers; // of the thread, before it
};

bool plainRace(const std::vector<ThreadAccess> &all) {
  const ThreadAccess &last = all.back();
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const ThreadAccess &other = all[i];
    if (other.granule != last.granule || !(other.writes || last.writes))
      continue;
    if (other.block != last.block)
      return true;
    bool sameWarp = other.thread / 32 == last.thread / 32;
    bool ordered = other.thread == last.thread ||
                   other.blockBarriers < last.blockBarriers ||
                   (sameWarp && other.warpBarriers < last.warpBarriers);
    if (!ordered)
      return true;
  }
  return false;
}

/// One access through the cells, as the emulator makes it; true: a race.
bool cellRace(std::vector<Cell> &written, std::vector<Cell> &read,
              const Epochs &epochs, const ThreadAccess &access) {
  Cell &w = written[access.granule], &r = read[access.granule];
  bool race = orderOf(w, epochs, access.thread) != Order::before;
  if (access.writes) {
    race |= orderOf(r, epochs, access.thread) != Order::before;
    w = cellOf(epochs, access.thread);
  } else {
    r = addReader(r, epochs, access.thread);
  }
  return race;
}

TEST(EmulatedRaces, ThreadsAgreeWithAPlainDetector) {
  constexpr uint32_t granules = 24, warps = 3;
  std::vector<Cell> written(granules), read(granules);
  Epochs epochs; // never falls: cells of earlier launches are stale
  size_t accesses = 0;
  for (uint64_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    Random random(seed);
    std::vector<ThreadAccess> all;
    uint64_t blockBarriers = 0, warpBarriers[warps] = {};
    uint32_t block = 0;
    epochs.beginLaunch();
    epochs.beginBlock();
    for (int step = 0; step < 200; ++step) {
      uint64_t choice = random.below(40);
      auto warp = uint32_t(random.below(warps));
      if (choice == 0) {
        ++block;
        epochs.beginBlock();
      } else if (choice < 8) {
        ++blockBarriers;
        epochs.blockBarrier();
      } else if (choice < 16) {
        ++warpBarriers[warp];
        epochs.warpBarrier(warp);
      } else {
        auto thread = uint32_t(warp * 32 + random.below(3));
        all.push_back({uint32_t(random.below(granules)), thread, block,
                       random.below(8) == 0, blockBarriers,
                       warpBarriers[warp]});
        bool found = cellRace(written, read, epochs, all.back());
        bool expected = plainRace(all);
        EXPECT_EQ(found, expected) << "seed " << seed << " step " << step;
        if (found || expected)
          break;
      }
    }
    accesses += all.size();
  }
  EXPECT_GT(accesses, 20000u);
}

/// Cells of 4 bytes become cells of 1 byte with the same contents.
TEST(EmulatedRaces, FinerCellsKeepWhatTheyHold) {
  Cells cells;
  alignas(16) static char memory[64];
  cells.watch(memory, 64, 2, true);
  for (size_t i = 0; i < 16; ++i)
    cells.written[i] = cells.read[i] = 100 + i;
  EXPECT_EQ(cells.refine(memory + 6, 2), 1u);
  EXPECT_EQ(cells.refine(memory + 7, 1), 0u);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(cells.written[i], 100 + i / 4);
    EXPECT_EQ(cells.read[i], 100 + i / 4);
  }
}

} // namespace
} // namespace autopar::runtime::emulated
