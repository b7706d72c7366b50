//===- WorkOrder.cpp - In which order a function's work is done -----------===//

#include "autopar/Cost/WorkList.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// The items that each item waits for, and those that wait for it.
struct Dependences {
  explicit Dependences(const WorkList &work);

  std::vector<SmallVector<unsigned, 4>> needs, users; // per item

private:
  void linkMessages(const WorkList &work);
};

class Order {
public:
  explicit Order(const WorkList &work);
  std::vector<unsigned> run();

private:
  void findNumbers();
  void demand(unsigned item);
  void schedule(unsigned item);
  void issue(unsigned item);
  void noteWaits(unsigned item);
  void noteReady(unsigned item);
  bool waits(unsigned item) const;
  bool passesOn(unsigned buffer) const;
  bool frees(unsigned buffer) const;
  bool isEager(unsigned item) const;
  bool isCompute(unsigned item) const {
    return work.items[item].kind == WorkKind::Compute;
  }

  const WorkList &work;
  Dependences links;
  std::vector<unsigned> missing; // per item: needs that are not done
  std::vector<bool> done;        // per item
  std::vector<bool> isNumber;    // per item: it computes one from others
  std::vector<SmallVector<unsigned, 4>> reads;   // per item: buffers, once
  std::vector<SmallVector<unsigned, 4>> readers; // per buffer
  std::vector<unsigned> unready;    // per buffer: readers that miss something
  std::vector<unsigned> candidates; // buffers of which a reader became ready
  std::vector<unsigned> messages;   // communication in its order
  std::vector<unsigned> place;      // per item: in `messages`
  unsigned waited = 0;              // messages that a kernel has waited for
  std::vector<unsigned> order;
};

} // namespace

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

/// Reads need the writer; sends and receives need the one before them on their
/// channel.
Dependences::Dependences(const WorkList &work)
    : needs(work.items.size()), users(work.items.size()) {
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
    linkMessages(work);
  for (auto [id, list] : enumerate(needs)) {
    sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (unsigned need : list)
      users[need].push_back(id);
  }
}

/// Each message needs the one before it in the order of channels.
void Dependences::linkMessages(const WorkList &work) {
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

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Order::Order(const WorkList &work)
    : work(work), links(work), missing(work.items.size()),
      done(work.items.size()), isNumber(work.items.size()),
      reads(work.items.size()), readers(work.buffers.size()),
      unready(work.buffers.size()), place(work.items.size()) {
  for (auto [id, item] : enumerate(work.items)) {
    missing[id] = links.needs[id].size();
    reads[id] = item.reads;
    sort(reads[id]);
    reads[id].erase(std::unique(reads[id].begin(), reads[id].end()),
                    reads[id].end());
    for (unsigned buffer : reads[id]) {
      readers[buffer].push_back(id);
      unready[buffer] += missing[id] > 0;
    }
  }
  findNumbers();
}

/// Kernels that compute single numbers of single numbers, as a learning rate
/// of the number of the step, and need no communication.
void Order::findNumbers() {
  constexpr int64_t kNumberBytes = 8;
  std::vector<bool> communicates(work.items.size());
  auto isSmall = [&](unsigned buffer) {
    return work.buffers[buffer].bytes <= kNumberBytes;
  };
  for (auto [id, item] : enumerate(work.items)) {
    communicates[id] =
        !isCompute(id) || any_of(links.needs[id], [&](unsigned need) {
          return communicates[need];
        });
    isNumber[id] = !communicates[id] && all_of(item.reads, isSmall) &&
                   all_of(item.writes, isSmall);
  }
}

/// Returns whether the item is done as soon as it can be. Late collectives and
/// items that wait for arguments alone are not: all of them would come at the
/// start, and their results would take memory until they are read. Single
/// numbers take almost no memory, and kernels that free memory may wait for
/// them.
bool Order::isEager(unsigned item) const {
  WorkKind kind = work.items[item].kind;
  return kind == WorkKind::Send || isNumber[item] ||
         (kind == WorkKind::Collective && !work.items[item].late &&
          !links.needs[item].empty());
}

/// Returns whether kernels would wait here for communication that none has
/// waited for.
bool Order::waits(unsigned item) const {
  return work.communication.ownStream &&
         any_of(links.needs[item], [&](unsigned need) {
           return !isCompute(need) && place[need] >= waited;
         });
}

/// Returns whether the bytes that a kernel writes to the buffer are free at
/// once, because a collective takes them to persistent memory as soon as they
/// are written.
bool Order::passesOn(unsigned buffer) const {
  auto takes = [&](unsigned reader) {
    return work.items[reader].kind == WorkKind::Collective &&
           missing[reader] == 1 &&
           all_of(work.items[reader].writes, [&](unsigned written) {
             return work.buffers[written].persistent;
           });
  };
  return !work.buffers[buffer].output && !readers[buffer].empty() &&
         all_of(readers[buffer], takes);
}

/// Returns whether computing all last readers of `buffer` frees memory: all of
/// them can be computed, and they leave less in the arena than the buffer
/// takes.
bool Order::frees(unsigned buffer) const {
  const WorkBuffer &what = work.buffers[buffer];
  if (what.persistent || what.input || what.output || unready[buffer] > 0)
    return false;
  int64_t left = 0;
  for (unsigned reader : readers[buffer]) {
    if (done[reader])
      continue;
    if (!isCompute(reader) || waits(reader))
      return false;
    for (unsigned written : work.items[reader].writes)
      if (!work.buffers[written].persistent && !passesOn(written))
        left += alignTo(work.buffers[written].bytes, kArenaAlignment);
  }
  return left < int64_t(alignTo(what.bytes, kArenaAlignment));
}

void Order::noteReady(unsigned item) {
  if (isCompute(item) && !done[item])
    append_range(candidates, reads[item]);
}

/// Notes that a kernel which waits for communication waits for all
/// communication before it.
void Order::noteWaits(unsigned item) {
  if (!isCompute(item)) {
    place[item] = messages.size();
    messages.push_back(item);
    return;
  }
  unsigned before = waited;
  for (unsigned need : links.needs[item])
    if (!isCompute(need))
      waited = std::max(waited, place[need] + 1);
  for (; before < waited; ++before)
    for (unsigned user : links.users[messages[before]])
      if (missing[user] == 0)
        noteReady(user);
}

/// Puts `item` next, then every collective and send that it makes ready.
void Order::issue(unsigned item) {
  SmallVector<unsigned> open{item};
  while (!open.empty()) {
    unsigned next = open.pop_back_val();
    done[next] = true;
    order.push_back(next);
    noteWaits(next);
    SmallVector<unsigned> eager;
    for (unsigned user : links.users[next]) {
      if (--missing[user] > 0)
        continue;
      for (unsigned buffer : reads[user])
        --unready[buffer];
      if (isEager(user))
        eager.push_back(user);
      else
        noteReady(user);
    }
    open.append(eager.rbegin(), eager.rend());
  }
}

/// Puts `item` next, then what frees memory after it.
void Order::schedule(unsigned item) {
  issue(item);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!frees(candidates[i]))
      continue;
    for (unsigned reader : readers[candidates[i]])
      if (!done[reader])
        issue(reader);
  }
  candidates.clear();
}

/// Schedules `item` after what it still needs (receives and what they hold up).
void Order::demand(unsigned item) {
  SmallVector<unsigned> open{item};
  while (!open.empty()) {
    unsigned next = open.back();
    const auto &needs = links.needs[next];
    auto *need = find_if(needs, [&](unsigned id) { return !done[id]; });
    if (need != needs.end()) {
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
    if (!done[id] && work.items[id].kind != WorkKind::Recv &&
        !work.items[id].late)
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

} // namespace autopar
