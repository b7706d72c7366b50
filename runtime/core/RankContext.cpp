//===- RankContext.cpp - One rank's state ---------------------------------===//

#include "RankContext.h"

#include "../checkpoint/SavedBlocks.h"

#include <algorithm>
#include <cstdio>

using namespace autopar::runtime;

aprt_rank::aprt_rank(const Manifest &manifest, int worldRank,
                     RankRecord &record)
    : manifest(manifest), worldRank(worldRank), record(record),
      persistent(entries().size()) {}

aprt_rank::~aprt_rank() {
  if (device)
    device->endSteps();
}

Status aprt_rank::checkIndex(int index) const {
  if (index >= 0 && size_t(index) < persistent.size() &&
      !persistent[index].released)
    return Status::success();
  return Status::error("persistent tensor " + std::to_string(index) +
                       " does not exist or was released");
}

Status aprt_rank::load(int index) {
  APRT_TRY(checkIndex(index));
  Persistent &tensor = persistent[index];
  if (tensor.data)
    return Status::success();
  const PersistentEntry &entry = entries()[index];
  if (entry.isInput)
    return Status::error("persistent tensor " + std::to_string(index) +
                         " is an input, which only step may read");
  int number = numberOf(index);
  if (number >= 0)
    tensor.data = common->use(number);
  if (tensor.data)
    return Status::success();
  APRT_TRY(device->allocate(entry.bytes, entry.name.c_str(), memory.persistent,
                            tensor.data));
  if (!entry.isParameter && !entry.isState)
    return Status::success();
  APRT_TRY(fill(entry, tensor.data));
  if (number >= 0)
    common->add(number, *device, tensor.data);
  return Status::success();
}

/// Fills a parameter from its file, or a state with its initial value.
Status aprt_rank::fill(const PersistentEntry &entry, void *data) {
  HostSlice slice;
  slice.intervals = intervalsOf(entry.dims, manifest.coordinates(worldRank, 0));
  slice.elementBytes = elementBytes(entry.dtype);
  const std::string key = entry.isState ? stateKey(entry.role, entry.name) : "";
  bool goesOn = resumed && entry.isState && resumed->has(key);
  slice.parallel = goesOn;
  const Array *given = nullptr;
  if (!goesOn && entry.isGivenState() && states)
    if (auto found = states->find(entry.name); found != states->end())
      given = &found->second;
  if (given)
    slice.copy = [&](const std::vector<Interval> &part, char *host) {
      readSlice(part, slice.elementBytes, given->data.data(), host);
      return Status::success();
    };
  else if (goesOn)
    slice.copy = [&](const std::vector<Interval> &part, char *host) {
      return resumed->copy(key, part, host);
    };
  else if (entry.isParameter)
    slice.copy = [&](const std::vector<Interval> &part, char *host) {
      return weights.read(entry, part, host);
    };
  else
    slice.copy = [&](const std::vector<Interval> &part, char *host) {
      for (int64_t i = 0, count = elementsOf(part); i < count; ++i)
        host = std::copy(entry.fill.begin(), entry.fill.end(), host);
      return Status::success();
    };
  return device->upload(data, slice);
}

Status aprt_rank::release(int index) {
  APRT_TRY(checkIndex(index));
  if (entries()[index].isInput)
    return Status::error("persistent tensor " + std::to_string(index) +
                         " is an input, which is the host's");
  if (entries()[index].isState)
    return Status::error("persistent tensor " + std::to_string(index) +
                         " is a state, which all steps need");
  Persistent &tensor = persistent[index];
  tensor.released = true;
  void *data = std::exchange(tensor.data, nullptr);
  if (data && numberOf(index) >= 0)
    return common->drop(numberOf(index));
  return device->release(data);
}

Status aprt_rank::mergeConstants() {
  if (!common)
    return Status::success();
  auto merge = [&](int64_t bytes, void *&data) {
    return common->merge(*device, bytes, data);
  };
  for (size_t i = 0; i < persistent.size(); ++i)
    if (persistent[i].data && entries()[i].isSetupValue())
      APRT_TRY(merge(entries()[i].bytes, persistent[i].data));
  return device->mergePacked(merge);
}

Status aprt_rank::loadOthers() {
  for (size_t i = 0; i < persistent.size(); ++i)
    if ((entries()[i].isParameter || entries()[i].isState) &&
        !persistent[i].released)
      APRT_TRY(load(int(i)));
  return Status::success();
}

Status aprt_rank::makeSetupArena() {
  return device->allocate(manifest.setupArenaBytes[size_t(stage())],
                          "the arena", memory.arena, arena);
}

Status aprt_rank::makeArena() {
  APRT_TRY(device->release(std::exchange(arena, nullptr)));
  if (common)
    return common->takeArena(*device, memory.arena, arena);
  return device->allocate(manifest.arenaBytes[size_t(stage())], "the arena",
                          memory.arena, arena);
}

void aprt_rank::fail(int op, const std::string &cause) {
  std::string where = "rank " + std::to_string(worldRank) + ": ";
  if (op >= 0)
    where += std::string("op '") + manifest.opName(op) + "' (" +
             manifest.opKind(op) + "): ";
  if (device && device->isCapturing()) {
    captureFailure = where + cause;
    return;
  }
  if (record.failed.load())
    return;
  std::snprintf(record.message, sizeof(record.message), "%s%s", where.c_str(),
                cause.c_str());
  record.failed.store(1);
}

void aprt_rank::addTime(int op, Activity activity, double start,
                        double seconds) {
  if (activity == Activity::Compute)
    computeSeconds += seconds;
  if (activity == Activity::Communication)
    communicationSeconds += seconds;
  if (!trace)
    return;
  if (record.traceEvents < traceCapacity)
    trace[record.traceEvents++] = {op, start, seconds};
  else
    ++record.traceDropped;
}

/// On a GPU communication has streams of its own; an event's time is what the
/// stream waited for it.
Activity aprt_rank::activityOf(int op) const {
  if (op < 0 || size_t(op) >= manifest.ops.size())
    return Activity::Compute;
  const OpEntry &entry = manifest.ops[size_t(op)];
  if (entry.kind == "event")
    return Activity::Wait;
  return entry.stream > 0 ? Activity::Communication : Activity::Compute;
}

Status aprt_rank::startStatistics(TraceEvent *events, int64_t capacity) {
  trace = events;
  traceCapacity = capacity;
  computeSeconds = communicationSeconds = 0;
  statisticsAtStart = transport->statistics();
  repeatedBytesSent = 0;
  if (!trace || !device->isAsynchronous())
    return Status::success();
  return device->startTrace([this](const TraceEvent &event) {
    addTime(event.op, activityOf(event.op), event.start, event.seconds);
  });
}
