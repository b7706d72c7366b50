//===- Board.cpp - What a session tells its ranks -------------------------===//

#include "Board.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace autopar::runtime {

std::vector<ProgramState> programStates(const Manifest &manifest) {
  std::vector<ProgramState> states;
  std::map<std::pair<StateRole, std::string>, size_t> known;
  for (size_t stage = 0; stage < manifest.persistent.size(); ++stage) {
    const std::vector<PersistentEntry> &entries = manifest.persistent[stage];
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].isState)
        continue;
      auto [found, isNew] = known.emplace(
          std::pair(entries[i].role, entries[i].name), states.size());
      if (isNew)
        states.push_back(
            {&entries[i], std::vector<int>(manifest.persistent.size(), -1)});
      states[found->second].indices[stage] = int(i);
    }
  }
  return states;
}

Status BoardSlot::create(const Manifest &manifest, SharedMemory &shared,
                         Entry &entry) {
  APRT_TRY(shared.take(int64_t(manifest.outputs.size()), "the wanted outputs",
                       entry.wanted));
  for (const Port &port : manifest.inputs)
    APRT_TRY(
        shared.take(port.globalBytes, "an input", entry.inputs.emplace_back()));
  for (const Port &port : manifest.outputs)
    APRT_TRY(shared.take(port.globalBytes, "an output",
                         entry.outputs.emplace_back()));
  return Status::success();
}

Status BoardSlot::create(const std::vector<const Manifest *> &manifests,
                         SharedMemory &shared) {
  APRT_TRY(shared.take(sizeof(Header), "the session's task", headerMemory));
  for (const Manifest *manifest : manifests)
    APRT_TRY(create(*manifest, shared, entries.emplace_back()));
  return Status::success();
}

/// There is a task for each stage, and one more that the owner fills or
/// empties.
size_t slotsOf(const std::vector<const Manifest *> &manifests) {
  size_t slots = 1;
  for (const Manifest *manifest : manifests)
    while (manifest->stepsOverlap && slots < size_t(manifest->stages) + 1)
      slots *= 2;
  return slots;
}

Status Board::create(const std::vector<const Manifest *> &manifests,
                     SharedMemory &shared) {
  int64_t ranks = manifests.front()->worldSize();
  APRT_TRY(shared.take((ranks + 1) * int64_t(sizeof(SharedCounter)),
                       "what ranks have done", counterMemory));
  if (shared.isNew())
    for (int64_t i = 0; i <= ranks; ++i)
      new (&counters()[i]) SharedCounter();
  all.resize(slotsOf(manifests));
  for (BoardSlot &slot : all)
    APRT_TRY(slot.create(manifests, shared));
  // The room takes no memory before it is written.
  for (int64_t rank = 0; rank < ranks; ++rank)
    APRT_TRY(shared.take(traceCapacity * int64_t(sizeof(TraceEvent)),
                         "a rank's trace", traces.emplace_back()));
  int64_t largest = 0;
  for (const Manifest *manifest : manifests) {
    APRT_TRY(shared.take(ranks * int64_t(sizeof(uint64_t)),
                         "what ranks have read", sources.emplace_back()));
    for (const ProgramState &state : programStates(*manifest))
      largest = std::max(largest, state.entry->globalBytes);
  }
  return shared.take(largest, "a state", stateMemory);
}

void Board::await(uint32_t number, const Patience &patience) {
  if (patience.wait([&] { return told().reached(number); }))
    return;
  while (!told().reached(number)) {
    uint32_t seen = told().value.load();
    told().waiters.fetch_add(1);
    if (int32_t(seen - number) < 0)
      futexWait(told().value, seen, /*nanoseconds=*/-1, /*shared=*/true);
    told().waiters.fetch_sub(1);
  }
}

} // namespace autopar::runtime
