//===- NcclCommunicator.cpp - Life of an emulated communicator ------------===//

#include "NcclCommunicator.h"

#include "NcclLibrary.h"

#include <algorithm>
#include <unistd.h>

using namespace autopar::runtime::emulated;

namespace autopar::runtime {

ncclResult_t ncclComm::raise(ncclResult_t code, const std::string &what) {
  if (error == ncclSuccess) {
    error = code;
    text = what;
  }
  return code;
}

ncclResult_t ncclComm::checkUsable(const char *call) {
  std::string who = std::string(call) + ": the communicator ";
  if (process != getpid()) {
    text = who + "belongs to process " + std::to_string(process);
    return ncclInvalidUsage;
  }
  if (state == State::starting && error == ncclSuccess) {
    text = who + "is not ready: ncclCommGetAsyncError says when it is";
    return ncclInvalidArgument;
  }
  const char *why = nullptr;
  if (state == State::aborted)
    why = "was aborted";
  else if (state == State::gone)
    why = "was destroyed";
  else if (state == State::finalizing || state == State::finalized)
    why = "was finalized";
  if (why) {
    text = who + why;
    return ncclInvalidUsage;
  }
  return error;
}

int32_t ncclComm::worldRank(int member) const {
  return region.isOpen() ? region.seat(member).worldRank : member;
}

WaitNote &ncclComm::waitNote() const {
  return root->region.seat(root->rank).wait;
}

void ncclComm::join(const RegionName &name, int members, int member) {
  rank = member;
  size = members;
  process = getpid();
  int32_t world = root == this ? member : root->rank;
  Status attached = region.attach(name, members, member, world);
  if (attached.failed())
    raise(ncclInvalidUsage, attached.message());
}

void ncclComm::split(int color, int key, ncclComm_t *result, ncclComm *child) {
  current = std::make_unique<Split>();
  current->color = color;
  current->key = key;
  current->result = result;
  current->child = child;
  ++splits;
}

bool ncclComm::checkMembers(const std::string &during) {
  for (int m = 0; m < size; ++m) {
    if (isDoneWith(m))
      continue;
    std::string who = "rank " + std::to_string(worldRank(m));
    if (!region.isAlive(m))
      raise(ncclRemoteError, who + " died during " + during);
    else if (region.seat(m).state.load() == SeatState::aborted)
      raise(ncclRemoteError,
            who + " aborted the communicator during " + during);
  }
  return error == ncclSuccess;
}

/// In a split: the member has done what this one needs of it.
bool ncclComm::isDoneWith(int member) const {
  if (!current || current->step < Split::Step::members)
    return false;
  return current->step == Split::Step::end ||
         region.seat(member).color != current->color;
}

bool ncclComm::boardIsFree() const {
  for (int m = 0; m < size; ++m)
    if (int32_t(region.seat(m).splitsRead.load() - (splits - 1)) < 0)
      return false;
  return true;
}

void ncclComm::postSplit() {
  Seat &seat = region.seat(rank);
  Status made = NcclRegion::create(created);
  if (made.failed())
    raise(ncclSystemError, made.message());
  seat.color = current->color;
  seat.key = current->key;
  seat.child = created;
  seat.splitsPosted.store(splits);
}

/// All have posted: the group's members by key, then rank; the first one's
/// region is the child's.
void ncclComm::finishSplit() {
  std::vector<int> group;
  for (int m = 0; m < size; ++m)
    if (region.seat(m).color == current->color)
      group.push_back(m);
  std::stable_sort(group.begin(), group.end(), [&](int a, int b) {
    return region.seat(a).key < region.seat(b).key;
  });
  if (current->child) {
    ncclComm &child = *current->child;
    int member =
        int(std::find(group.begin(), group.end(), rank) - group.begin());
    child.join(region.seat(group[0]).child, int(group.size()), member);
    if (child.error != ncclSuccess)
      raise(child.error, child.text);
  }
  region.seat(rank).splitsRead.store(splits);
}

void ncclComm::advanceSplit() {
  Split &split = *current;
  if (split.step == Split::Step::board && boardIsFree()) {
    postSplit();
    split.step = Split::Step::others;
  }
  if (split.step == Split::Step::others) {
    for (int m = 0; m < size; ++m)
      if (int32_t(region.seat(m).splitsPosted.load() - splits) < 0)
        return;
    finishSplit();
    split.step = Split::Step::members;
    split.looks = looksLater();
  }
  if (error != ncclSuccess || split.step == Split::Step::others)
    return;
  if (split.step == Split::Step::members &&
      (!split.child || split.child->region.allAttached()))
    publishSplit();
  else if (split.step == Split::Step::end && split.looks-- <= 0)
    current.reset();
}

/// The new communicator is where the host wanted it while the parent still says
/// that it is busy, and is ready for use some time later.
void ncclComm::publishSplit() {
  Split &split = *current;
  if (split.looks-- > 0)
    return;
  if (split.child) {
    split.child->looks = looksLater();
    __atomic_store_n(split.result, split.child, __ATOMIC_RELEASE);
  }
  // All who want this member's candidate have opened it.
  closeCreated(created);
  split.step = Split::Step::end;
  split.looks = looksLater();
}

void ncclComm::advance() {
  if (error != ncclSuccess || !region.isOpen())
    return;
  std::string failure;
  if (root->region.failed(failure)) {
    raise(ncclRemoteError, failure);
    return;
  }
  if (state == State::starting && region.allAttached() && looks-- <= 0)
    state = State::ready;
  if (current) {
    checkMembers("ncclCommSplit");
    advanceSplit();
  }
  if (state != State::finalizing || pending > 0)
    return;
  region.seat(rank).state.store(SeatState::finalized);
  for (int m = 0; m < size; ++m)
    if (region.seat(m).state.load() == SeatState::here && region.isAlive(m))
      return;
  state = State::finalized;
}

ncclResult_t ncclComm::asyncResult() {
  actAsNcclThread();
  advance();
  if (error != ncclSuccess)
    return error;
  bool goesOn =
      state == State::starting || state == State::finalizing || isBusy();
  return goesOn ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclComm::finalize() {
  if (captured > 0)
    return raise(ncclInvalidUsage,
                 "ncclCommFinalize: a graph still holds " +
                     std::to_string(captured) +
                     " operations of the communicator; NCCL waits for ever "
                     "until it is destroyed");
  state = State::finalizing;
  return asyncResult();
}

void ncclComm::leave(State how) {
  state = how;
  if (!region.isOpen())
    return;
  region.seat(rank).state.store(how == State::aborted ? SeatState::aborted
                                                      : SeatState::gone);
  if (root != this || how != State::aborted)
    return;
  // Nobody shall take this process for one that waits.
  for (auto &word : waitNote().ranks)
    word.store(0);
}

} // namespace autopar::runtime
