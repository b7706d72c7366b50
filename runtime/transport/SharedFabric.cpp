//===- SharedFabric.cpp - The memory that ranks of a host share -----------===//

#include "SharedFabric.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>

namespace autopar::runtime {

Status SharedGroup::create(std::vector<int> members, int64_t messageBytes) {
  ranks = std::move(members);
  int64_t count = int64_t(ranks.size());
  APRT_TRY(counterMemory.allocateShared(count * int64_t(sizeof(SharedCounter)),
                                        "a communicator's counters"));
  for (int64_t i = 0; i < count; ++i)
    new (&counters()[i]) SharedCounter();
  if (messageBytes == 0 || count == 1)
    return Status::success();
  staged = shared_memory::stagingBytes(messageBytes, count);
  return stagingMemory.allocateShared(
      shared_memory::groupBytes(messageBytes, count),
      "a communicator's staging");
}

int SharedGroup::indexOf(int rank) const {
  auto it = std::find(ranks.begin(), ranks.end(), rank);
  return it == ranks.end() ? -1 : int(it - ranks.begin());
}

Status SharedRing::create(int64_t bytes, int64_t slots) {
  slotBytes = bytes;
  slotCount = uint32_t(slots);
  slotPitch = shared_memory::slotBytes(bytes);
  APRT_TRY(memory.allocateShared(shared_memory::ringBytes(bytes, slots),
                                 "a channel's ring"));
  new (memory.data()) Header();
  return Status::success();
}

int64_t &SharedRing::length(uint32_t sequence) const {
  return *reinterpret_cast<int64_t *>(slot(sequence) - shared_memory::kLine);
}

char *SharedRing::slot(uint32_t sequence) const {
  return static_cast<char *>(memory.data()) + sizeof(Header) +
         int64_t(sequence % slotCount) * slotPitch + shared_memory::kLine;
}

static std::string secondsText(double seconds) {
  char text[48];
  std::snprintf(text, sizeof(text), "%g s", seconds);
  return text;
}

std::string missingRanks(const std::vector<int> &ranks, double timeoutSeconds) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text + " did not arrive within " + secondsText(timeoutSeconds) +
         " (--timeout sets this limit)";
}

Status meetGroup(const SharedGroup &group, int index, uint32_t sequence,
                 const Waiter &waiter, bool withDeadline,
                 double &waitedSeconds) {
  group.arrived(index).publish(sequence);
  WaitResult result = WaitResult::Reached;
  for (int m = 0; m < group.members() && result == WaitResult::Reached; ++m)
    result =
        waiter.wait(group.arrived(m), sequence, withDeadline, waitedSeconds);
  if (result == WaitResult::Reached)
    return Status::success();
  if (result == WaitResult::Aborted)
    return abortedStatus();
  std::vector<int> missing;
  for (int m = 0; m < group.members(); ++m)
    if (!group.arrived(m).reached(sequence))
      missing.push_back(group.rankOf(m));
  return Status::error(missingRanks(missing, waiter.timeout()));
}

Status SharedFabric::create(const Manifest &manifest, bool stagesData) {
  APRT_TRY(flags.allocateShared(shared_memory::kLine, "the program's flags"));
  new (flags.data()) std::atomic<uint32_t>(0);
  std::vector<int> everyone(manifest.worldSize());
  std::iota(everyone.begin(), everyone.end(), 0);
  APRT_TRY(worldGroup.create(everyone, /*messageBytes=*/0));
  APRT_TRY(boardMemory.allocateShared(RankFabric::maxShared,
                                      "what a rank tells all"));
  APRT_TRY(progressMemory.allocateShared(manifest.worldSize() *
                                             int64_t(sizeof(SharedProgress)),
                                         "the ranks' progress"));
  for (int rank = 0; rank < manifest.worldSize(); ++rank)
    new (&progress(rank)) SharedProgress();
  return stagesData ? createData(manifest) : Status::success();
}

Status SharedFabric::createData(const Manifest &manifest) {
  for (const Communicator &communicator : manifest.communicators) {
    groups.emplace_back();
    for (const std::vector<int> &members : communicator.groups) {
      groups.back().emplace_back();
      APRT_TRY(groups.back().back().create(members, communicator.bytes));
    }
  }
  for (const Channel &channel : manifest.channels) {
    rings.emplace_back(manifest.devicesPerStage);
    for (SharedRing &ring : rings.back())
      APRT_TRY(ring.create(channel.bytes, channel.slots));
  }
  return Status::success();
}

SharedGroup *SharedFabric::groupOf(int comm, int rank) {
  if (comm < 0 || size_t(comm) >= groups.size())
    return nullptr;
  for (SharedGroup &group : groups[comm])
    if (group.indexOf(rank) >= 0)
      return &group;
  return nullptr;
}

SharedRing *SharedFabric::ring(int channel, int device) {
  if (channel < 0 || size_t(channel) >= rings.size())
    return nullptr;
  return &rings[channel][device];
}

int64_t SharedFabric::bytesOf(const Manifest &manifest, int rank) {
  int64_t bytes = 0;
  for (size_t comm = 0; comm < groups.size(); ++comm)
    if (SharedGroup *group = groupOf(int(comm), rank))
      bytes += group->bytes();
  int stage = rank / manifest.devicesPerStage;
  int device = rank % manifest.devicesPerStage;
  for (size_t i = 0; i < manifest.channels.size(); ++i) {
    const Channel &channel = manifest.channels[i];
    if (!rings.empty() &&
        (channel.fromStage == stage || channel.toStage == stage))
      bytes += rings[i][device].bytes();
  }
  return bytes;
}

} // namespace autopar::runtime
