//===- Queues.h - Streams and events of the emulated GPU --------*- C++ -*-===//
//
// A stream is a queue of commands. They run when the host waits or asks, in a
// seeded random order among the heads that are free to run. Vector clocks say
// what the program has ordered: a race is found when work is enqueued, however
// it then runs.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_QUEUES_H
#define AUTOPAR_RUNTIME_EMULATED_QUEUES_H

#include "EmulatedDevice.h"
#include "RaceDetector.h"
#include "Random.h"

#include <deque>

namespace autopar::runtime::emulated {

class Capture;
struct Stream;

/// Work with its final name; shared by the launches of a graph.
struct Operation {
  Work work;
  std::shared_ptr<const OpName> name;
};

/// One cuEventRecord that has been enqueued.
struct EventRecord {
  Stream *stream = nullptr;
  uint64_t sequence = 0;
  VectorClock clock;
  double seconds = 0; // when it ran
};

struct Event {
  std::string name;
  bool timed = true;
  std::shared_ptr<EventRecord> record; // null: never recorded
  // Recorded inside a capture: its number, and the node that it is after.
  uint64_t capture = 0; // 0: no
  size_t lane = 0, position = 0;
  VectorClock laneClock;
};

/// Of the bytes of a pinned range when its copy was enqueued.
struct HostSum {
  bool known = false;
  uint64_t sum = 0;
};

struct Command {
  enum Kind { work, record, wait } kind;
  uint64_t sequence = 0;
  std::shared_ptr<const Operation> operation; // work
  bool started = false;
  std::vector<HostSum> hostSums;            // of the ranges, if it copies them
  std::shared_ptr<EventRecord> eventRecord; // record
  Stream *awaited = nullptr;                // wait: for its command
  uint64_t awaitedSequence = 0;
};

struct Stream {
  std::string name;
  uint32_t actor = 0;
  bool nonBlocking = false; // takes no part in the default stream's order
  bool open = true;
  bool ofGraph = false; // a branch of a graph, which has no handle
  VectorClock clock;
  uint64_t issued = 0, completed = 0;
  std::deque<Command> queue;
  std::shared_ptr<Capture> capture; // that records it
  size_t lane = 0;                  // its place in the capture
};

class Queues {
public:
  explicit Queues(uint64_t seed);

  //===--------------------------------------------------------------------===//
  // Handles
  //===--------------------------------------------------------------------===//

  Stream *createStream(std::string name, bool nonBlocking);
  /// The live stream of a handle, the default one of a null handle, or null.
  Stream *find(CUstream handle);
  void destroy(Stream &stream) { stream.open = false; }
  Event *createEvent(bool timed);
  Event *find(CUevent handle);
  void destroy(Event &event);
  std::vector<std::string> openHandles() const;

  //===--------------------------------------------------------------------===//
  // Enqueue
  //===--------------------------------------------------------------------===//

  /// Checks and enqueues; the stream is not being captured.
  CUresult enqueue(Stream &stream, std::shared_ptr<const Operation> operation);
  void record(Stream &stream, Event &event);
  void wait(Stream &stream, const EventRecord &record);
  /// The stream's next command comes after command `sequence` of `other`.
  void waitFor(Stream &stream, Stream &other, uint64_t sequence,
               const VectorClock &clock);
  /// What the host knows and the default stream's order hold for the next
  /// command of the stream.
  void beginCommand(Stream &stream);

  //===--------------------------------------------------------------------===//
  // Run
  //===--------------------------------------------------------------------===//

  /// Runs one command. False if none can run now.
  bool step();
  bool done(const Stream &stream, uint64_t sequence) const {
    return stream.completed >= sequence;
  }
  /// Runs commands until that one is done or there is a fault, or (unless
  /// `forEver`) until others than this device must act first.
  bool runUntil(const Stream &stream, uint64_t sequence, bool forEver);
  /// The host asks for that one: some commands run, perhaps not enough.
  void lookAt(const Stream &stream, uint64_t sequence);
  /// The host knows from now on that all of `clock` is done.
  void hostLearns(const VectorClock &clock) { hostClock.join(clock); }

  RaceDetector races;
  VectorClock hostClock;

private:
  Command &push(Stream &stream, Command::Kind kind);
  void followDefaultStream(Stream &stream);
  CUresult checkRaces(const Operation &operation, const OpRef &op,
                      const VectorClock &clock);
  void watchHost(const Operation &operation, Command &command);
  bool canRun(const Stream &stream) const;
  /// False: a poll that is not done.
  bool run(Stream &stream);
  bool runWork(Command &command);
  void keepShort();
  void abandon();

  std::vector<std::unique_ptr<Stream>> streams; // the default stream first
  std::vector<std::unique_ptr<Event>> events;
  Random random;
  uint64_t eagerness; // one in so many calls runs something at once
  size_t queued = 0, stagedBytes = 0;
  uint64_t eventCount = 0;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_QUEUES_H
