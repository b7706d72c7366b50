//===- SharedFabric.cpp - The memory that ranks of a host share -----------===//

#include "SharedFabric.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>

namespace autopar::runtime {

Status SharedGroup::create(std::vector<int> members, int64_t messageBytes,
                           SharedMemory &shared) {
  ranks = std::move(members);
  int64_t count = int64_t(ranks.size());
  APRT_TRY(shared.take(count * int64_t(sizeof(SharedCounter)),
                       "a communicator's counters", counterMemory));
  for (int64_t i = 0; shared.isNew() && i < count; ++i)
    new (&counters()[i]) SharedCounter();
  if (messageBytes == 0 || count == 1)
    return Status::success();
  staged = shared_memory::stagingBytes(messageBytes, count);
  return shared.take(shared_memory::groupBytes(messageBytes, count),
                     "a communicator's staging", stagingMemory);
}

int SharedGroup::indexOf(int rank) const {
  auto it = std::find(ranks.begin(), ranks.end(), rank);
  return it == ranks.end() ? -1 : int(it - ranks.begin());
}

Status SharedRing::create(int64_t bytes, int64_t slots, SharedMemory &shared) {
  slotBytes = bytes;
  slotCount = uint32_t(slots);
  slotPitch = shared_memory::slotBytes(bytes);
  APRT_TRY(shared.take(shared_memory::ringBytes(bytes, slots),
                       "a channel's ring", memory));
  if (shared.isNew())
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

Status SharedFabric::create(const Manifest &manifest, SharedMemory &shared,
                            bool stagesData) {
  APRT_TRY(shared.take(shared_memory::kLine, "the program's flags", flags));
  if (shared.isNew())
    new (flags.data()) std::atomic<uint32_t>(0);
  std::vector<int> everyone(manifest.worldSize());
  std::iota(everyone.begin(), everyone.end(), 0);
  APRT_TRY(worldGroup.create(everyone, /*messageBytes=*/0, shared));
  APRT_TRY(
      shared.take(RankFabric::maxShared, "what a rank tells all", boardMemory));
  APRT_TRY(shared.take(manifest.worldSize() * int64_t(sizeof(SharedProgress)),
                       "the ranks' progress", progressMemory));
  for (int rank = 0; shared.isNew() && rank < manifest.worldSize(); ++rank)
    new (&progress(rank)) SharedProgress();
  return stagesData ? createData(manifest, shared) : Status::success();
}

Status SharedFabric::createData(const Manifest &manifest,
                                SharedMemory &shared) {
  for (const Communicator &communicator : manifest.communicators) {
    groups.emplace_back();
    for (const std::vector<int> &members : communicator.groups) {
      groups.back().emplace_back();
      APRT_TRY(
          groups.back().back().create(members, communicator.bytes, shared));
    }
  }
  for (const Channel &channel : manifest.channels) {
    rings.emplace_back(manifest.devicesPerStage);
    for (SharedRing &ring : rings.back())
      APRT_TRY(ring.create(channel.bytes, channel.slots, shared));
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
