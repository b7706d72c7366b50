//===- Member.cpp - A rank of a session -----------------------------------===//

#include "Member.h"

#include "../core/Futex.h"
#include "RankRecords.h"

#include <algorithm>
#include <utility>

namespace autopar::runtime {

std::vector<const Manifest *> manifestsOf(const Worlds &worlds) {
  std::vector<const Manifest *> manifests;
  for (const std::unique_ptr<World> &world : worlds)
    manifests.push_back(&world->program.manifest);
  return manifests;
}

Status makeWorlds(const std::vector<Program> &programs,
                  const RankOptions &options, SharedMemory &shared,
                  Worlds &worlds) {
  for (const Program &program : programs) {
    World *first = worlds.empty() ? nullptr : worlds.front().get();
    worlds.push_back(std::make_unique<World>(program, options, first));
    APRT_TRY(worlds.back()->create(shared));
  }
  return Status::success();
}

Status openWeights(const std::vector<Program> &programs,
                   const std::string &given,
                   std::vector<WeightFiles> &weights) {
  for (const Program &program : programs)
    APRT_TRY(
        weights.emplace_back().open(program.manifest, program.home, given));
  return Status::success();
}

StepData emptyStep(const Manifest &manifest) {
  StepData data;
  data.inputs.resize(manifest.inputs.size());
  data.results.resize(resultPorts(manifest).size());
  return data;
}

Member::Member(const Worlds &worlds, int worldRank) : worldRank(worldRank) {
  if (worlds.size() > 1)
    common = std::make_unique<RankCommon>(manifestsOf(worlds), worldRank);
  for (const std::unique_ptr<World> &world : worlds)
    entries.push_back(std::make_unique<Entry>(*world, worldRank, common.get()));
}

/// Shared memory belongs to the entry that asked for it first.
Member::~Member() {
  while (!entries.empty())
    entries.pop_back();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status Member::load(Entry &entry, WeightFiles weights, Board *board) {
  Rank &rank = entry.rank;
  const Manifest &manifest = entry.world.program.manifest;
  APRT_TRY(rank.open());
  APRT_TRY(rank.load(std::move(weights), /*states=*/nullptr));
  entry.data = emptyStep(manifest);
  // The outputs are the first results.
  std::vector<bool> wanted(entry.data.results.size());
  std::fill_n(wanted.begin(), manifest.outputs.size(), true);
  APRT_TRY(rank.prepare(wanted));
  auto source = [&](int rank) -> uint64_t & {
    return board->source(entry.world.entry(), rank);
  };
  if (board)
    source(worldRank) = rank.source();
  APRT_TRY(rank.context()->transport->barrier(/*withDeadline=*/false));
  if (board && source(worldRank) != source(0))
    return Status::error("the files of the weights are others than those that "
                         "rank 0 has read: they were replaced meanwhile");
  return rank.checkFiles();
}

Status Member::load(std::vector<WeightFiles> weights, Board *board) {
  double start = monotonicSeconds();
  for (size_t i = 0; i < entries.size(); ++i) {
    APRT_TRY(load(begin(i), std::move(weights[i]), board));
    APRT_TRY(measure(i, /*trace=*/nullptr));
  }
  for (std::unique_ptr<Entry> &entry : entries)
    entry->rank.context()->device->adoptPacked();
  entries.front()->world.record(worldRank).loadSeconds =
      monotonicSeconds() - start;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

Member::Entry &Member::begin(size_t number) {
  Entry &entry = *entries[number];
  RankRecord &record = entry.world.record(worldRank);
  if (record.currentEntry.load(std::memory_order_relaxed) != int32_t(number)) {
    record.currentOp.store(-1);
    record.currentEntry.store(int32_t(number));
  }
  return entry;
}

int Member::indexOf(const Entry &entry, size_t state) const {
  int stage = worldRank / entry.world.program.manifest.devicesPerStage;
  return entry.states[state].indices[size_t(stage)];
}

Status Member::step(size_t number, const StepData &step) {
  Entry &entry = begin(number);
  double start = monotonicSeconds();
  APRT_TRY(entry.rank.feed(step));
  APRT_TRY(entry.rank.step(step, /*next=*/nullptr));
  entry.seconds += monotonicSeconds() - start;
  ++entry.steps;
  return Status::success();
}

Status Member::measure(size_t number, TraceEvent *trace) {
  Entry &entry = begin(number);
  aprt_rank &context = *entry.rank.context();
  context.record.traceEvents = context.record.traceDropped = 0;
  entry.steps = 0;
  entry.seconds = 0;
  entry.before = context.device->counters();
  return context.startStatistics(trace, trace ? traceCapacity : 0);
}

void Member::report(size_t number) {
  Entry &entry = begin(number);
  const Manifest &manifest = entry.world.program.manifest;
  aprt_rank &context = *entry.rank.context();
  // There may be no counted step yet, because the caller counts a step only
  // after waiting for it.
  int64_t steps = std::max<int64_t>(entry.steps, 1);
  recordTimes(context, steps, entry.seconds, /*barrierWait=*/0);
  recordCounters(context, steps, entry.before);
  int64_t portBytes = 0;
  for (const std::vector<Port> *ports : {&manifest.inputs, &manifest.outputs})
    for (const Port &port : *ports)
      portBytes += port.globalBytes;
  recordMemory(context, portBytes);
}

Status Member::readState(size_t number, size_t state, void *whole) {
  Entry &entry = begin(number);
  int index = indexOf(entry, state);
  return index < 0 ? Status::success() : entry.rank.readState(index, whole);
}

Status Member::writeState(size_t number, size_t state, const void *whole) {
  Entry &entry = begin(number);
  int index = indexOf(entry, state);
  return index < 0 ? Status::success() : entry.rank.writeState(index, whole);
}

Status Member::end() {
  for (size_t i = 0; i < entries.size(); ++i)
    APRT_TRY(begin(i).rank.end());
  return Status::success();
}

Status Member::stepOnBoard(const BoardSlot &slot) {
  size_t number = slot.entry();
  Entry &entry = *entries[number];
  StepData &data = entry.data;
  for (size_t i = 0; i < data.inputs.size(); ++i)
    data.inputs[i] = slot.input(number, i);
  for (size_t i = 0; i < entry.world.program.manifest.outputs.size(); ++i)
    data.results[i].data =
        slot.isWanted(number, i) ? slot.output(number, i) : nullptr;
  return step(number, data);
}

Status Member::follow(Board &board, uint32_t number) {
  const BoardSlot &slot = board.slot(number);
  switch (slot.task()) {
  case Task::Step:
    return stepOnBoard(slot);
  case Task::ReadState:
    return readState(slot.entry(), size_t(slot.index()), board.state());
  case Task::WriteState:
    return writeState(slot.entry(), size_t(slot.index()), board.state());
  case Task::Measure:
    return measure(slot.entry(),
                   slot.index() ? board.trace(worldRank) : nullptr);
  case Task::Report:
    report(slot.entry());
    return Status::success();
  case Task::End:
    return end();
  }
  return Status::error("unknown task");
}

void Member::fail(const Status &status) {
  RankRecord &record = entries.front()->world.record(worldRank);
  entries[size_t(record.currentEntry.load())]->rank.fail(status);
}

} // namespace autopar::runtime
