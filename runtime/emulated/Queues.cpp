//===- Queues.cpp - Streams and events of the emulated GPU ----------------===//

#include "Queues.h"

#include "Gpu.h"
#include "Ranges.h"

#include <chrono>
#include <cstring>
#include <sched.h>
#include <time.h>

namespace autopar::runtime::emulated {

Queues::Queues(uint64_t seed) : random(seed) {
  constexpr uint64_t choices[] = {2, 16, ~uint64_t(0)};
  eagerness = choices[random.below(3)];
  createStream("the default stream", false);
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

Stream *Queues::createStream(std::string name, bool nonBlocking) {
  streams.push_back(std::make_unique<Stream>());
  Stream &stream = *streams.back();
  stream.actor = uint32_t(streams.size() - 1);
  stream.name =
      name.empty() ? "stream " + std::to_string(stream.actor) : std::move(name);
  stream.nonBlocking = nonBlocking;
  return &stream;
}

Stream *Queues::find(CUstream handle) {
  if (!handle || uintptr_t(handle) == 1) // 1: CU_STREAM_LEGACY
    return streams.front().get();
  for (auto &stream : streams)
    if (stream.get() == reinterpret_cast<Stream *>(handle))
      return stream->open ? stream.get() : nullptr;
  return nullptr;
}

Event *Queues::createEvent(bool timed) {
  events.push_back(std::make_unique<Event>());
  events.back()->timed = timed;
  events.back()->name = "event " + std::to_string(eventCount++);
  return events.back().get();
}

Event *Queues::find(CUevent handle) {
  for (auto &event : events)
    if (event.get() == reinterpret_cast<Event *>(handle))
      return event.get();
  return nullptr;
}

void Queues::destroy(Event &event) {
  events.erase(std::find_if(events.begin(), events.end(), [&](const auto &it) {
    return it.get() == &event;
  }));
}

std::vector<std::string> Queues::openHandles() const {
  std::vector<std::string> result;
  for (const auto &stream : streams)
    if (stream->open && !stream->ofGraph && stream->actor > 0)
      result.push_back(stream->name);
  for (const auto &event : events)
    result.push_back(event->name);
  return result;
}

//===----------------------------------------------------------------------===//
// Enqueue
//===----------------------------------------------------------------------===//

/// The default stream's order: its commands come after all that the blocking
/// streams have, and before what they get later.
void Queues::followDefaultStream(Stream &stream) {
  if (stream.nonBlocking)
    return;
  Stream &first = *streams.front();
  if (&stream != &first) {
    waitFor(stream, first, first.issued, first.clock);
    return;
  }
  for (auto &other : streams)
    if (!other->nonBlocking && other.get() != &first)
      waitFor(first, *other, other->issued, other->clock);
}

void Queues::waitFor(Stream &stream, Stream &other, uint64_t sequence,
                     const VectorClock &clock) {
  stream.clock.join(clock);
  if (&stream == &other || done(other, sequence))
    return;
  Command &command = push(stream, Command::wait);
  command.awaited = &other;
  command.awaitedSequence = sequence;
}

Command &Queues::push(Stream &stream, Command::Kind kind) {
  Command command;
  command.kind = kind;
  command.sequence = ++stream.issued;
  stream.clock.raise(stream.actor, command.sequence);
  stream.queue.push_back(std::move(command));
  ++queued;
  return stream.queue.back();
}

void Queues::beginCommand(Stream &stream) {
  stream.clock.join(hostClock);
  followDefaultStream(stream);
}

CUresult Queues::enqueue(Stream &stream,
                         std::shared_ptr<const Operation> operation) {
  if (CUresult code = faultCode())
    return code;
  for (const Range &range : operation->work.ranges)
    if (CUresult code = checkRange(range, *operation->name))
      return code;
  beginCommand(stream);
  Command &command = push(stream, Command::work);
  OpRef op{stream.actor, command.sequence, operation->name};
  watchHost(*operation, command);
  if (CUresult code = checkRaces(*operation, op, stream.clock)) {
    abandon();
    return code;
  }
  stagedBytes += operation->work.stagedBytes;
  command.operation = std::move(operation);
  if (random.below(eagerness) == 0)
    step();
  keepShort();
  return faultCode();
}

/// Long queues only cost memory.
void Queues::keepShort() {
  constexpr size_t longQueue = 2048;
  constexpr size_t muchMemory = size_t(64) << 20;
  if (queued <= longQueue && stagedBytes <= muchMemory)
    return;
  while ((queued > longQueue / 2 || stagedBytes > muchMemory / 2) && step()) {
  }
}

void Queues::record(Stream &stream, Event &event) {
  beginCommand(stream);
  Command &command = push(stream, Command::record);
  event.capture = 0;
  event.record = std::make_shared<EventRecord>();
  event.record->stream = &stream;
  event.record->sequence = command.sequence;
  event.record->clock = stream.clock;
  command.eventRecord = event.record;
}

void Queues::wait(Stream &stream, const EventRecord &record) {
  beginCommand(stream);
  waitFor(stream, *record.stream, record.sequence, record.clock);
}

//===----------------------------------------------------------------------===//
// Checks when enqueued
//===----------------------------------------------------------------------===//

static std::string raceText(const Range &range, const OpName &op,
                            const Conflict &conflict) {
  const OpName &other = *conflict.other.name;
  return "'" + op.op + "' on " + op.stream + " " + accessWords(range.access) +
         " " + range.name + ", bytes that '" + other.op + "' on " +
         other.stream + (conflict.otherWrites ? " writes" : " reads") + ": " +
         gpu().memory.describe(conflict.begin) +
         "; nothing orders them: " + "record an event on " + other.stream +
         " after '" + other.op + "' and let " + op.stream +
         " wait for it before '" + op.op + "'";
}

CUresult Queues::checkRaces(const Operation &operation, const OpRef &op,
                            const VectorClock &clock) {
  for (const Range &range : operation.work.ranges) {
    bool writes = range.access & accessWrite;
    std::optional<Conflict> conflict;
    forEachPiece(range, [&](CUdeviceptr begin, CUdeviceptr end) {
      conflict = races.access(begin, end, writes, op, clock);
      return !conflict;
    });
    if (conflict)
      return fault(FaultKind::streamRace,
                   raceText(range, *operation.name, *conflict));
  }
  return CUDA_SUCCESS;
}

/// Pinned memory that is read keeps its sum until the copy runs; what is
/// written is filled with a pattern before. Only if no earlier work is still to
/// write or read there.
void Queues::watchHost(const Operation &operation, Command &command) {
  if (!operation.work.copiesHost)
    return;
  for (const Range &range : operation.work.ranges) {
    command.hostSums.emplace_back();
    if (!gpu().memory.isPinned(reinterpret_cast<void *>(range.address)))
      continue;
    bool writes = range.access & accessWrite;
    bool busy = false;
    forEachPiece(range, [&](CUdeviceptr begin, CUdeviceptr end) {
      busy = races.pending(begin, end, writes, hostClock).has_value();
      return !busy;
    });
    if (busy)
      continue;
    if (writes)
      forEachPiece(range, [&](CUdeviceptr begin, CUdeviceptr end) {
        std::memset(reinterpret_cast<void *>(begin), 0xff, end - begin);
        return true;
      });
    command.hostSums.back() = {true, sumOfBytes(range)};
  }
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

bool Queues::canRun(const Stream &stream) const {
  if (stream.queue.empty())
    return false;
  const Command &head = stream.queue.front();
  return head.kind != Command::wait ||
         done(*head.awaited, head.awaitedSequence);
}

bool Queues::step() {
  std::vector<Stream *> ready;
  for (auto &stream : streams)
    if (canRun(*stream))
      ready.push_back(stream.get());
  while (!ready.empty()) {
    size_t choice = random.below(ready.size());
    if (run(*ready[choice]))
      return true;
    ready.erase(ready.begin() + choice);
  }
  return false;
}

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool Queues::run(Stream &stream) {
  Command &head = stream.queue.front();
  if (head.kind == Command::work && !runWork(head))
    return false;
  if (faultCode()) {
    abandon();
    return true;
  }
  if (head.kind == Command::record)
    head.eventRecord->seconds = now();
  stream.completed = head.sequence;
  stream.queue.pop_front();
  --queued;
  return true;
}

bool Queues::runWork(Command &command) {
  const Operation &operation = *command.operation;
  const Work &work = operation.work;
  bool first = !command.started;
  if (first) {
    command.started = true;
    for (size_t i = 0; i < work.ranges.size(); ++i) {
      HostSum sum = work.copiesHost ? command.hostSums[i] : HostSum();
      if (checkBeforeRun(work.ranges[i], *operation.name, sum))
        return true; // a fault
    }
  }
  if (work.poll) {
    Progress progress = work.poll(first);
    if (progress == Progress::notYet)
      return false;
  } else if (work.body) {
    work.body();
  }
  for (const Range &range : work.ranges)
    if ((range.access & (accessWrite | accessUnchecked)) == accessWrite)
      markInitialised(range);
  stagedBytes -= work.stagedBytes;
  return true;
}

bool Queues::runUntil(const Stream &stream, uint64_t sequence, bool forEver) {
  for (int idle = 0; !done(stream, sequence) && !faultCode();) {
    actInBackground();
    if (step()) {
      idle = 0;
      continue;
    }
    // Other processes must act first.
    if (++idle > 8 && !forEver)
      return false;
    if (idle <= 4) {
      sched_yield();
      continue;
    }
    timespec pause = {0, 50000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

/// An answer may come late.
void Queues::lookAt(const Stream &stream, uint64_t sequence) {
  actInBackground();
  if (!done(stream, sequence) && random.below(4) == 0)
    step();
  else
    runUntil(stream, sequence, /*forEver=*/false);
}

/// After a fault the device does nothing more.
void Queues::abandon() {
  for (auto &stream : streams) {
    stream->queue.clear();
    stream->completed = stream->issued;
  }
  queued = stagedBytes = 0;
}

} // namespace autopar::runtime::emulated
