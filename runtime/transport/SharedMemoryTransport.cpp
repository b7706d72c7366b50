//===- SharedMemoryTransport.cpp - Ranks of one host: waiting, channels ---===//

#include "SharedMemoryTransport.h"

#include "Reduce.h"

namespace autopar::runtime {

SharedMemoryTransport::SharedMemoryTransport(SharedFabric &fabric,
                                             const Manifest &manifest, int rank,
                                             ThreadPool &pool,
                                             double timeoutSeconds,
                                             Patience patience)
    : fabric(fabric), manifest(manifest), rank(rank), pool(pool),
      waiter(fabric.aborted(), timeoutSeconds, patience),
      members(manifest.communicators.size()), ends(manifest.channels.size()) {
  for (size_t comm = 0; comm < members.size(); ++comm) {
    Member &member = members[comm];
    member.group = fabric.groupOf(int(comm), rank);
    if (!member.group)
      continue;
    member.index = member.group->indexOf(rank);
    member.inputs.resize(member.group->members());
    member.sends.resize(member.group->members());
    member.receives.resize(member.group->members());
  }
  world.group = &fabric.world();
  world.index = rank;
}

int64_t SharedMemoryTransport::memberIndex(int comm) const {
  return comm >= 0 && size_t(comm) < members.size() ? members[comm].index : -1;
}

Status SharedMemoryTransport::find(int comm, Member *&member) {
  if (memberIndex(comm) < 0)
    return Status::error("this rank is in no group of communicator " +
                         std::to_string(comm));
  member = &members[comm];
  if (member->group->members() > 1 && member->group->stagingBytes() == 0)
    return Status::error("the program says that communicator " +
                         std::to_string(comm) + " moves nothing");
  return Status::success();
}

Status SharedMemoryTransport::meet(Member &member, bool withDeadline) {
  return meetGroup(*member.group, member.index, ++member.sequence, waiter,
                   withDeadline && deadlines, counters.waitSeconds);
}

Status SharedMemoryTransport::barrier(bool withDeadline) {
  return meet(world, withDeadline);
}

Status SharedMemoryTransport::waitFor(SharedCounter &counter, uint32_t target,
                                      int peer) {
  WaitResult result =
      waiter.wait(counter, target, deadlines, counters.waitSeconds);
  if (result == WaitResult::Reached)
    return Status::success();
  if (result == WaitResult::Aborted)
    return abortedStatus();
  return Status::error(missingRanks({peer}, waiter.timeout()));
}

Status SharedMemoryTransport::send(int channel, const void *data,
                                   int64_t bytes) {
  int device = rank % manifest.devicesPerStage;
  SharedRing *ring = fabric.ring(channel, device);
  if (!ring ||
      manifest.channels[channel].fromStage != rank / manifest.devicesPerStage)
    return Status::error("this rank does not send on channel " +
                         std::to_string(channel));
  if (bytes < 0 || bytes > ring->capacity())
    return Status::error("a message of " + std::to_string(bytes) +
                         " bytes does not fit the channel's " +
                         std::to_string(ring->capacity()));
  int peer =
      manifest.channels[channel].toStage * manifest.devicesPerStage + device;
  uint32_t sequence = ends[channel].sent++;
  APRT_TRY(waitFor(ring->consumed(), sequence + 1 - ring->slots(), peer));
  ring->length(sequence) = bytes;
  copy(ring->slot(sequence), data, bytes);
  ring->produced().publish(sequence + 1);
  counters.bytesSent += bytes;
  return Status::success();
}

Status SharedMemoryTransport::receive(int channel, void *data, int64_t bytes) {
  int device = rank % manifest.devicesPerStage;
  SharedRing *ring = fabric.ring(channel, device);
  if (!ring ||
      manifest.channels[channel].toStage != rank / manifest.devicesPerStage)
    return Status::error("this rank does not receive on channel " +
                         std::to_string(channel));
  int peer =
      manifest.channels[channel].fromStage * manifest.devicesPerStage + device;
  uint32_t sequence = ends[channel].received++;
  APRT_TRY(waitFor(ring->produced(), sequence + 1, peer));
  if (ring->length(sequence) != bytes)
    return Status::error("rank " + std::to_string(peer) + " sent " +
                         std::to_string(ring->length(sequence)) +
                         " bytes where " + std::to_string(bytes) +
                         " are expected");
  copy(data, ring->slot(sequence), bytes);
  ring->consumed().publish(sequence + 1);
  return Status::success();
}

/// Below this many bytes another thread costs more than it saves.
static constexpr int64_t copyGrain = 128 << 10;

void SharedMemoryTransport::copy(void *to, const void *from, int64_t bytes) {
  if (to == from)
    return;
  pool.split(bytes, copyGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char *>(to) + begin,
                static_cast<const char *>(from) + begin, size_t(end - begin));
  });
}

void SharedMemoryTransport::reduce(aprt_reduce kind, aprt_dtype dtype,
                                   int64_t bytes,
                                   const std::vector<const void *> &inputs,
                                   char *out) {
  int64_t element = elementBytes(dtype);
  constexpr int maxMembersAtOnce = 64;
  pool.split(bytes / element, copyGrain / element,
             [&](int64_t begin, int64_t end) {
               const void *shifted[maxMembersAtOnce];
               std::vector<const void *> many;
               const void **at = shifted;
               if (inputs.size() > maxMembersAtOnce) {
                 many.resize(inputs.size());
                 at = many.data();
               }
               for (size_t m = 0; m < inputs.size(); ++m)
                 at[m] = static_cast<const char *>(inputs[m]) + begin * element;
               reduceMembers(kind, dtype, end - begin, at, int(inputs.size()),
                             out + begin * element);
             });
}

} // namespace autopar::runtime
