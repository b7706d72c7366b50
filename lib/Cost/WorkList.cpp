//===- WorkList.cpp - Memory of a function's work -------------------------===//

#include "autopar/Cost/WorkList.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Returns whether `item` may write buffer `out` over `in`, which it reads.
static bool isInPlace(const WorkItem &item, unsigned out, unsigned in) {
  return count(item.reads, in) == 1 && any_of(item.inPlace, [&](auto pair) {
           return item.writes[pair.first] == out &&
                  item.reads[pair.second] == in;
         });
}

std::vector<bool> statesToCopy(const WorkList &work) {
  std::vector<int64_t> lastRead(work.buffers.size(), -1),
      writer(work.buffers.size(), -1);
  for (auto [id, item] : enumerate(work.items)) {
    for (unsigned buffer : item.reads)
      lastRead[buffer] = id;
    for (unsigned buffer : item.writes)
      writer[buffer] = id;
  }
  std::vector<bool> copies;
  for (WorkState state : work.states) {
    int64_t write = writer[state.next], read = lastRead[state.argument];
    bool over = write >= 0 && read == write &&
                isInPlace(work.items[write], state.next, state.argument);
    copies.push_back(write < 0 || (read >= write && !over));
  }
  return copies;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// Buffers that are stored over one another, and the times at which they are
/// alive.
struct Storage {
  int64_t first = 0, last = 0;
  unsigned owner = 0; // the first buffer that is stored there
};
} // namespace

static std::vector<Storage> findLifetimes(const WorkList &work) {
  int64_t end = work.items.size();
  std::vector<Storage> lives(work.buffers.size());
  for (auto [id, buffer] : enumerate(work.buffers)) {
    lives[id].owner = id;
    lives[id].last = buffer.output ? end : 0;
  }
  for (auto [time, item] : enumerate(work.items)) {
    for (unsigned id : item.writes) {
      lives[id].first = time;
      lives[id].last = std::max<int64_t>(lives[id].last, time);
    }
    for (unsigned id : item.reads)
      lives[id].last = std::max<int64_t>(lives[id].last, time);
  }
  return lives;
}

/// Communication on its own stream is known to be done when a kernel touches
/// the result of it, or of communication after it. Reusing its buffers before
/// that would make kernels wait.
static void extendOverCommunication(const WorkList &work,
                                    std::vector<Storage> &lives) {
  int64_t end = work.items.size();
  std::vector<int64_t> touched(work.buffers.size(), end); // next by a kernel
  int64_t waited = end;
  for (int64_t time = end - 1; time >= 0; --time) {
    const WorkItem &item = work.items[time];
    if (item.kind == WorkKind::Compute) {
      for (const auto &ids : {item.reads, item.writes})
        for (unsigned id : ids)
          touched[id] = time;
      continue;
    }
    for (unsigned id : item.writes)
      waited = std::min(waited, touched[id]);
    for (const auto &ids : {item.reads, item.writes})
      for (unsigned id : ids)
        lives[id].last = std::max(lives[id].last, waited);
  }
}

/// Stores outputs over inputs that die where they are written.
static std::vector<Storage> shareStorage(const WorkList &work,
                                         const std::vector<Storage> &lives) {
  std::vector<Storage> storages = lives;
  for (auto [time, item] : enumerate(work.items)) {
    SmallVector<bool> taken(item.writes.size());
    for (auto [to, from] : item.inPlace) {
      unsigned out = item.writes[to], in = item.reads[from];
      bool fits = !work.buffers[in].persistent &&
                  !work.buffers[out].persistent &&
                  work.buffers[in].bytes == work.buffers[out].bytes &&
                  lives[in].last == int64_t(time) && !taken[to] &&
                  count(item.reads, in) == 1;
      if (!fits)
        continue;
      taken[to] = true;
      storages[out].owner = storages[in].owner;
      Storage &storage = storages[storages[in].owner];
      storage.last = std::max(storage.last, lives[out].last);
    }
  }
  return storages;
}

MemoryPlan planMemory(const WorkList &work) {
  std::vector<Storage> lives = findLifetimes(work);
  if (work.communication.ownStream)
    extendOverCommunication(work, lives);
  std::vector<Storage> storages = shareStorage(work, lives);
  std::vector<ArenaRequest> requests;
  std::vector<int64_t> requestOf(work.buffers.size(), -1);
  for (auto [id, buffer] : enumerate(work.buffers)) {
    if (buffer.persistent || storages[id].owner != id)
      continue;
    requestOf[id] = requests.size();
    requests.push_back({buffer.bytes, storages[id].first, storages[id].last});
  }
  ArenaPlan arena = planArena(requests);
  MemoryPlan plan;
  plan.arenaBytes = arena.bytes;
  plan.offsets.assign(work.buffers.size(), -1);
  for (auto [id, buffer] : enumerate(work.buffers))
    if (!buffer.persistent)
      plan.offsets[id] = arena.offsets[requestOf[storages[id].owner]];
  return plan;
}

} // namespace autopar
