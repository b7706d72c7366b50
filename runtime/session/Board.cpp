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

Status Board::create(const Manifest &manifest, SharedMemory &shared) {
  int64_t ranks = manifest.worldSize();
  APRT_TRY(shared.take(sizeof(Header), "the session's task", headerMemory));
  APRT_TRY(shared.take(ranks * int64_t(sizeof(SharedCounter)),
                       "what ranks have done", counterMemory));
  APRT_TRY(shared.take(ranks * int64_t(sizeof(uint64_t)),
                       "what ranks have read", sources));
  if (shared.isNew()) {
    new (&header()) Header();
    for (int64_t rank = 0; rank < ranks; ++rank)
      new (&counters()[rank]) SharedCounter();
  }
  APRT_TRY(shared.take(int64_t(manifest.outputs.size()), "the wanted outputs",
                       wantedMemory));
  for (const Port &port : manifest.inputs)
    APRT_TRY(shared.take(port.globalBytes, "an input", inputs.emplace_back()));
  for (const Port &port : manifest.outputs)
    APRT_TRY(
        shared.take(port.globalBytes, "an output", outputs.emplace_back()));
  int64_t largest = 0;
  for (const ProgramState &state : programStates(manifest))
    largest = std::max(largest, state.entry->globalBytes);
  return shared.take(largest, "a state", stateMemory);
}

uint32_t Board::tell(Task task, int64_t index) {
  Header &now = header();
  now.task = task;
  now.index = index;
  uint32_t number = now.told.value.load() + 1;
  now.told.publish(number);
  return number;
}

void Board::await(uint32_t number, const Patience &patience) {
  SharedCounter &told = header().told;
  if (patience.wait([&] { return told.reached(number); }))
    return;
  while (!told.reached(number)) {
    uint32_t seen = told.value.load();
    told.waiters.fetch_add(1);
    if (int32_t(seen - number) < 0)
      futexWait(told.value, seen, /*nanoseconds=*/-1, /*shared=*/true);
    told.waiters.fetch_sub(1);
  }
}

} // namespace autopar::runtime
