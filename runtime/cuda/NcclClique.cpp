//===- NcclClique.cpp - A rank's NCCL communicators -----------------------===//

#include "NcclClique.h"

#include "../core/Futex.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

namespace autopar::runtime {

Status NcclClique::mayWait(const char *call, double waitedSeconds) const {
  if (poll)
    return poll(waitedSeconds);
  if (fabric.aborted())
    return abortedStatus();
  if (waitedSeconds <= timeoutSeconds)
    return Status::success();
  return Status::error(std::string(call) +
                       " did not end in time (--timeout sets the limit): "
                       "not all ranks take part, or they cannot reach each "
                       "other; NCCL_DEBUG=INFO tells more");
}

Status NcclClique::waitWhile(const std::function<ncclResult_t()> &state,
                             const char *call, ncclComm_t comm) const {
  double start = monotonicSeconds();
  int64_t nanoseconds = 1000;
  for (;;) {
    ncclResult_t result = state();
    if (result != ncclInProgress)
      return nccl.check(result, call, comm);
    APRT_TRY(mayWait(call, monotonicSeconds() - start));
    timespec pause = {0, long(nanoseconds)};
    nanosleep(&pause, nullptr);
    nanoseconds = std::min<int64_t>(2 * nanoseconds, 1000000);
  }
}

ncclResult_t NcclClique::stateOf(ncclComm_t comm) const {
  ncclResult_t state = ncclSuccess;
  ncclResult_t asked = nccl.ncclCommGetAsyncError(comm, &state);
  return asked == ncclSuccess ? state : asked;
}

Status NcclClique::settle(ncclResult_t result, const char *call,
                          ncclComm_t comm) const {
  APRT_TRY(nccl.check(result, call, comm));
  return waitWhile([&] { return stateOf(comm); }, call, comm);
}

template <typename Visit> Status NcclClique::forEachComm(const Visit &visit) {
  for (std::vector<NcclGroup> *list : {&groups, &pairs})
    for (NcclGroup &group : *list)
      if (group.comm)
        APRT_TRY(visit(group.comm));
  return world ? visit(world) : Status::success();
}

/// Rank 0 makes the id, the fabric carries it.
Status NcclClique::createWorld() {
  ncclUniqueId id = {};
  static_assert(sizeof(id) <= RankFabric::maxShared);
  if (rank == 0)
    APRT_TRY(nccl.check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId"));
  APRT_TRY(fabric.share(0, &id, sizeof(id)));
  ncclConfig_t config;
  config.blocking = 0;
  ncclResult_t result = nccl.ncclCommInitRankConfig(
      &world, manifest.worldSize(), id, rank, &config);
  return settle(result, "ncclCommInitRankConfig", world);
}

/// A split goes on after its call, which returns success or "in progress":
/// first the parent is busy with it, then NCCL's thread has written `child`
/// (null: this rank is in no group), then that one is ready.
ncclResult_t NcclClique::splitState(const ncclComm_t *child) const {
  ncclResult_t parent = stateOf(world);
  if (parent != ncclSuccess || !child)
    return parent;
  ncclComm_t made = __atomic_load_n(child, __ATOMIC_ACQUIRE);
  return made ? stateOf(made) : ncclInProgress;
}

/// All ranks call it; those of one color make a group.
Status NcclClique::split(NcclGroup &group, bool isMember, int color) {
  ncclConfig_t config;
  config.blocking = 0;
  ncclResult_t result =
      nccl.ncclCommSplit(world, isMember ? color : NCCL_SPLIT_NOCOLOR,
                         group.index, &group.comm, &config);
  APRT_TRY(nccl.check(result, "ncclCommSplit", world));
  return waitWhile([&] { return splitState(isMember ? &group.comm : nullptr); },
                   "ncclCommSplit", world);
}

/// Groups of one need none. A communicator that moves nothing has none.
Status NcclClique::splitGroups() {
  for (size_t i = 0; i < groups.size(); ++i) {
    const Communicator &communicator = manifest.communicators[i];
    int color = -1;
    bool needed = false;
    for (size_t g = 0; g < communicator.groups.size(); ++g) {
      const std::vector<int> &ranks = communicator.groups[g];
      needed = needed || ranks.size() > 1;
      if (groups[i].ranks == ranks)
        color = int(g);
    }
    if (needed && communicator.bytes > 0)
      APRT_TRY(split(groups[i], groups[i].members() > 1, color));
  }
  return Status::success();
}

/// Channels that move nothing need none.
Status NcclClique::splitPairs() {
  std::vector<bool> needed(pairs.size());
  for (size_t i = 0; i < pairOfChannel.size(); ++i)
    if (manifest.channels[i].bytes > 0)
      needed[pairOfChannel[i]] = true;
  int device = rank % manifest.devicesPerStage;
  for (size_t i = 0; i < pairs.size(); ++i)
    if (needed[i])
      APRT_TRY(split(pairs[i], pairs[i].index >= 0, device));
  return Status::success();
}

static NcclGroup groupOf(const std::vector<int> &ranks, int rank) {
  NcclGroup group;
  auto found = std::find(ranks.begin(), ranks.end(), rank);
  if (found == ranks.end())
    return group;
  group.ranks = ranks;
  group.index = int(found - ranks.begin());
  return group;
}

/// In the order of channels, which all ranks know; the lower stage first.
void NcclClique::listPairs() {
  int perStage = manifest.devicesPerStage, device = rank % perStage;
  std::map<std::pair<int, int>, size_t> known;
  for (const Channel &channel : manifest.channels) {
    auto [low, high] = std::minmax(channel.fromStage, channel.toStage);
    auto [found, added] = known.try_emplace({low, high}, pairs.size());
    if (added)
      pairs.push_back(
          groupOf({low * perStage + device, high * perStage + device}, rank));
    pairOfChannel.push_back(found->second);
  }
}

Status NcclClique::create() {
  for (const Communicator &communicator : manifest.communicators) {
    groups.emplace_back();
    for (const std::vector<int> &ranks : communicator.groups)
      if (NcclGroup group = groupOf(ranks, rank); group.index >= 0)
        groups.back() = group;
  }
  listPairs();
  if (manifest.worldSize() == 1 || !manifest.uses("nccl"))
    return Status::success();
  APRT_TRY(createWorld());
  APRT_TRY(splitGroups());
  return splitPairs();
}

Status NcclClique::close() {
  unuse();
  // In the same order on all ranks, and the parent last.
  return forEachComm([&](ncclComm_t &comm) -> Status {
    APRT_TRY(settle(nccl.ncclCommFinalize(comm), "ncclCommFinalize", comm));
    ncclComm_t ended = std::exchange(comm, nullptr);
    return nccl.check(nccl.ncclCommDestroy(ended), "ncclCommDestroy");
  });
}

void NcclClique::abort() {
  registrations.clear();
  (void)forEachComm([&](ncclComm_t &comm) {
    nccl.ncclCommAbort(std::exchange(comm, nullptr));
    return Status::success();
  });
}

Status NcclClique::asyncError() {
  return forEachComm([&](ncclComm_t comm) -> Status {
    ncclResult_t state = ncclSuccess;
    APRT_TRY(nccl.check(nccl.ncclCommGetAsyncError(comm, &state),
                        "ncclCommGetAsyncError", comm));
    return nccl.check(state, "NCCL", comm);
  });
}

void NcclClique::use(void *memory, int64_t bytes) {
  if (!nccl.ncclCommRegister || !nccl.ncclCommDeregister || bytes == 0)
    return;
  for (const NcclGroup &group : groups) {
    void *handle = nullptr;
    if (group.comm && nccl.ncclCommRegister(group.comm, memory, size_t(bytes),
                                            &handle) == ncclSuccess)
      registrations.push_back({group.comm, handle});
  }
}

void NcclClique::unuse() {
  for (const Registration &registration : registrations)
    nccl.ncclCommDeregister(registration.comm, registration.handle);
  registrations.clear();
}

} // namespace autopar::runtime
