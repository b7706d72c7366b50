//===- WorkList.cpp - Order and memory of a function's work ---------------===//

#include "autopar/Cost/WorkList.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Whether `item` may write buffer `out` over `in`, which it reads.
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
// Order
//===----------------------------------------------------------------------===//

namespace {
class Order {
public:
  explicit Order(const WorkList &work) : work(work) { link(); }
  std::vector<unsigned> run();

private:
  void link();
  void linkMessages();
  void schedule(unsigned item);
  void demand(unsigned item);
  /// What only arguments hold up would all be done at the start, and its
  /// results take memory until they are read.
  bool isEager(unsigned item) const {
    WorkKind kind = work.items[item].kind;
    return kind == WorkKind::Send ||
           (kind == WorkKind::Collective && !needs[item].empty());
  }

  const WorkList &work;
  std::vector<SmallVector<unsigned, 4>> needs, users;
  std::vector<unsigned> missing;
  std::vector<bool> done;
  std::vector<unsigned> order;
};
} // namespace

/// Reads need the writer; sends and receives need the one before them on their
/// channel.
void Order::link() {
  size_t count = work.items.size();
  needs.resize(count);
  users.resize(count);
  missing.resize(count);
  done.resize(count);
  std::vector<int64_t> writer(work.buffers.size(), -1);
  DenseMap<unsigned, SmallVector<unsigned>> readers; // of states, by next value
  DenseMap<unsigned, unsigned> nextOf;
  for (WorkState state : work.states)
    nextOf[state.argument] = state.next;
  DenseMap<int64_t, unsigned> last;
  for (auto [id, item] : enumerate(work.items)) {
    for (unsigned buffer : item.writes)
      if (auto before = readers.find(buffer); before != readers.end())
        append_range(needs[id], before->second);
    for (unsigned buffer : item.reads) {
      if (writer[buffer] >= 0)
        needs[id].push_back(writer[buffer]);
      if (auto next = nextOf.find(buffer); next != nextOf.end())
        readers[next->second].push_back(id);
    }
    for (unsigned buffer : item.writes)
      writer[buffer] = id;
    if (item.channel >= 0) {
      int64_t key = 2 * item.channel + (item.kind == WorkKind::Recv);
      if (auto it = last.find(key); it != last.end())
        needs[id].push_back(it->second);
      last[key] = id;
    }
  }
  if (work.communication.rendezvous)
    linkMessages();
  for (unsigned id = 0; id < count; ++id) {
    sort(needs[id]);
    needs[id].erase(std::unique(needs[id].begin(), needs[id].end()),
                    needs[id].end());
    missing[id] = needs[id].size();
    for (unsigned need : needs[id])
      users[need].push_back(id);
  }
}

/// Each message needs the one before it in the order of channels.
void Order::linkMessages() {
  SmallVector<unsigned> messages;
  for (auto [id, item] : enumerate(work.items))
    if (item.channel >= 0)
      messages.push_back(id);
  stable_sort(messages, [&](unsigned a, unsigned b) {
    return work.items[a].channel < work.items[b].channel;
  });
  for (size_t i = 1; i < messages.size(); ++i)
    needs[messages[i]].push_back(messages[i - 1]);
}

/// Puts `item` next, then every collective and send that it makes ready.
void Order::schedule(unsigned item) {
  SmallVector<unsigned> open{item};
  while (!open.empty()) {
    unsigned next = open.pop_back_val();
    done[next] = true;
    order.push_back(next);
    SmallVector<unsigned> ready;
    for (unsigned user : users[next])
      if (--missing[user] == 0 && isEager(user))
        ready.push_back(user);
    open.append(ready.rbegin(), ready.rend());
  }
}

/// Schedules `item` after what it still needs (receives and what they hold up).
void Order::demand(unsigned item) {
  SmallVector<unsigned> open{item};
  while (!open.empty()) {
    unsigned next = open.back();
    auto *need = find_if(needs[next], [&](unsigned id) { return !done[id]; });
    if (need != needs[next].end()) {
      open.push_back(*need);
      continue;
    }
    open.pop_back();
    if (!done[next])
      schedule(next);
  }
}

std::vector<unsigned> Order::run() {
  for (unsigned id = 0; id < work.items.size(); ++id)
    if (isEager(id) && missing[id] == 0 && !done[id])
      schedule(id);
  for (unsigned id = 0; id < work.items.size(); ++id)
    if (!done[id] && work.items[id].kind != WorkKind::Recv)
      demand(id);
  for (unsigned id = 0; id < work.items.size(); ++id)
    if (!done[id]) // a receive that nobody reads still empties its channel
      demand(id);
  return std::move(order);
}

std::vector<unsigned> orderWork(const WorkList &work) {
  return Order(work).run();
}

WorkList orderedWork(const WorkList &work) {
  WorkList ordered{work.buffers, {}, work.communication, work.states};
  for (unsigned id : orderWork(work))
    ordered.items.push_back(work.items[id]);
  return ordered;
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
/// what it, or one after it, writes. Reusing its buffers before would make the
/// kernels wait.
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
