//===- NcclOperation.cpp - Steps and waits of an operation ----------------===//

#include "NcclOperation.h"

#include "../core/Futex.h"

#include <algorithm>
#include <csignal>
#include <unistd.h>

namespace autopar::runtime::emulated {

/// Waits look for dead and waiting ranks this often.
static constexpr double kCheckSeconds = 0.02;

int64_t typeBytes(int32_t type) {
  static const int64_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

/// Waits until the communicator and this member's data are free.
bool NcclOperation::begin(std::vector<int> &waitsFor) {
  if (comm.busy)
    return false;
  for (int m = 0; m < comm.size; ++m)
    if (int32_t(comm.region.seat(m).consumed.load() - comm.sequence) < 0)
      waitsFor.push_back(m);
  if (!waitsFor.empty())
    return false;
  comm.busy = true;
  stage = Stage::running;
  return true;
}

Progress NcclOperation::end(Progress how) {
  if (stage == Stage::running)
    comm.busy = false;
  if (stage != Stage::over)
    --comm.root->running;
  stage = Stage::over;
  note({});
  comm.pending -= counted ? 1 : 0;
  counted = false;
  return how;
}

Progress NcclOperation::mismatch(const std::string &text) {
  // Of all ranks: others may wait on another communicator.
  comm.root->region.fail(text);
  comm.raise(ncclInvalidUsage, text);
  fault(FaultKind::collective, text);
  return end(Progress::fault);
}

Progress NcclOperation::poll(bool first) {
  if (first) {
    stage = Stage::queued;
    ++comm.root->running;
    nextCheck = monotonicSeconds() + kCheckSeconds;
    versions.clear();
    problem.clear();
  }
  // What an abort cuts short ends with no result.
  if (comm.state == ncclComm::State::aborted)
    return end(Progress::done);
  if (first)
    planned = planFault(comm);
  if (planned == PlannedFault::skip)
    return end(Progress::done);
  if (comm.error != ncclSuccess || planned == PlannedFault::hang)
    return Progress::notYet;
  std::vector<int> waitsFor;
  if (planned != PlannedFault::death && stage == Stage::queued &&
      begin(waitsFor))
    post();
  if (stage == Stage::running && advance(waitsFor))
    return end(Progress::done);
  if (!problem.empty())
    return mismatch(problem);
  note(waitsFor);
  if (monotonicSeconds() < nextCheck)
    return Progress::notYet;
  nextCheck = monotonicSeconds() + kCheckSeconds;
  if (planned == PlannedFault::death)
    kill(getpid(), SIGKILL);
  std::string failure;
  if (comm.root->region.failed(failure))
    return mismatch(failure);
  comm.checkMembers(describe(call()));
  if (isDeadlock(failure))
    return mismatch(failure);
  return Progress::notYet;
}

//===----------------------------------------------------------------------===//
// Who waits for whom
//===----------------------------------------------------------------------===//

using Ranks = std::vector<uint64_t>; // a bit per rank of the world

static Ranks ranksOf(const WaitNote &note) {
  Ranks ranks;
  for (const auto &word : note.ranks)
    ranks.push_back(word.load());
  return ranks;
}

/// Tells the other ranks. Two operations at a time would need an answer for
/// each: then nothing is told.
void NcclOperation::note(const std::vector<int> &waitsFor) {
  WaitNote &note = comm.waitNote();
  Ranks ranks(WaitNote::maxRanks / 64);
  for (int member : waitsFor) {
    int world = comm.worldRank(member);
    if (world < WaitNote::maxRanks && world != comm.root->rank &&
        comm.root->running == 1)
      ranks[size_t(world) / 64] |= uint64_t(1) << (world % 64);
  }
  if (ranks == ranksOf(note)) {
    note.looks.fetch_add(1);
    return;
  }
  note.version.fetch_add(1);
  note.call = call();
  for (size_t i = 0; i < ranks.size(); ++i)
    note.ranks[i].store(ranks[i]);
  note.version.fetch_add(1);
}

/// The path from rank `from` along waits back to it, or nothing.
static std::vector<int> findCycle(const ncclComm &world, int from) {
  std::vector<int> before(size_t(world.size), -1), queue { from };
  for (size_t next = 0; next < queue.size(); ++next) {
    int at = queue[next];
    Ranks ranks = ranksOf(world.region.seat(at).wait);
    for (int other = 0; other < std::min(world.size, WaitNote::maxRanks);
         ++other) {
      if (!(ranks[size_t(other) / 64] >> (other % 64) & 1))
        continue;
      if (other == from) {
        std::vector<int> cycle{at};
        while (cycle.back() != from)
          cycle.push_back(before[size_t(cycle.back())]);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (before[size_t(other)] < 0) {
        before[size_t(other)] = at;
        queue.push_back(other);
      }
    }
  }
  return {};
}

/// A cycle counts if none of its ranks changed its wait since the last check
/// and each looked at it again since: then none can ever go on.
bool NcclOperation::isDeadlock(std::string &text) {
  const ncclComm &world = *comm.root;
  std::vector<int> cycle = findCycle(world, world.rank);
  auto note = [&](int rank) -> WaitNote & {
    return world.region.seat(rank).wait;
  };
  bool proven = !cycle.empty() && !versions.empty();
  for (int rank : cycle)
    proven = proven && note(rank).version.load() == versions[size_t(rank)] &&
             versions[size_t(rank)] % 2 == 0 &&
             int32_t(note(rank).looks.load() - looks[size_t(rank)]) >= 2;
  if (proven) {
    text = "deadlock:";
    for (size_t i = 0; i < cycle.size(); ++i)
      text += (i ? "; rank " : " rank ") + std::to_string(cycle[i]) +
              " waits in " + describe(note(cycle[i]).call) + " for rank " +
              std::to_string(cycle[(i + 1) % cycle.size()]);
    return true;
  }
  bool again = !versions.empty();
  for (int rank : cycle)
    again = again && note(rank).version.load() == versions[size_t(rank)];
  if (again && !cycle.empty())
    return false; // wait for more looks
  versions.clear();
  looks.clear();
  for (int rank = 0; rank < world.size; ++rank) {
    versions.push_back(note(rank).version.load());
    looks.push_back(note(rank).looks.load());
  }
  return false;
}

} // namespace autopar::runtime::emulated
