//===- Session.h - A program that stays -------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_SESSION_H
#define AUTOPAR_RUNTIME_SESSION_SESSION_H

#include "../checkpoint/CheckpointFolder.h"
#include "../core/MemoryGuard.h"
#include "Member.h"
#include "Workers.h"

#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace autopar::runtime {

struct SessionOptions : RankOptions {
  std::string entry;   // the only one that is loaded; empty: all
  int64_t ranks = 0;   // for which entries are; 0: as many as the first one's
  std::string weights; // as --weights names them; empty: those compiled with
};

/// A program that is loaded once with its entries and then runs any number of
/// steps. Steps run one at a time, or, if an entry's steps overlap, as many as
/// its pipeline has room for. In a program for CPUs rank 0 runs on the caller's
/// thread; all other ranks are workers.
class Session {
public:
  /// Loads the executable `path` with its weights. Entries that store weights
  /// alike share them.
  static Status open(const std::string &path, const SessionOptions &options,
                     std::unique_ptr<Session> &session);
  /// Ends the session, except in a process that was forked from the owner.
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  size_t entries() const { return programs.size(); }
  const Manifest &manifest(size_t entry) const {
    return programs[entry].manifest;
  }
  /// Returns the tensors that one step leaves for the next one.
  const std::vector<ProgramState> &states(size_t entry) const {
    return kept[entry];
  }
  /// Returns the first entry that shares the state number `index` of
  /// states(entry).
  size_t ownerOf(size_t entry, size_t index) const;
  /// Returns the number of threads of each rank that compute. Those of rank 0
  /// include the caller's.
  int threads() const { return worlds.front()->threads; }

  /// Runs one step of an entry. `inputs` are whole tensors in the order of its
  /// manifest's inputs; an input without elements may be null. `outputs` are in
  /// the order of its outputs; null means that an output is not wanted. A
  /// rejected input changes nothing; after any other failure each call fails
  /// with the same message.
  Status run(size_t entry, const void *const *inputs, void *const *outputs);

  /// Begins a step as run() does, and returns once the inputs may change. At
  /// most slots() steps are under way, from here until wait() has returned. One
  /// more is rejected, which changes nothing.
  Status submit(size_t entry, const void *const *inputs, void *const *outputs,
                int64_t &ticket);
  /// Returns once the outputs of that step are written.
  Status wait(int64_t ticket);
  size_t slots() const { return underWay.size(); }

  /// Return memory of an input or output that all ranks share, so that run()
  /// copies nothing. It is null if the only rank accesses any memory in place,
  /// or if steps overlap.
  char *sharedInput(size_t entry, size_t index);
  char *sharedOutput(size_t entry, size_t index);

  /// Copy the whole state number `index` of states(entry).
  Status readState(size_t entry, size_t index, void *to);
  Status writeState(size_t entry, size_t index, const void *from);

  /// Saves the states of an entry, as the last step left them, as the
  /// checkpoint of `step` in a folder of checkpoints. This session locks the
  /// folder. Of older checkpoints all but `keep` are removed (0: none are).
  /// Steps that other threads run meanwhile would be in some states and not in
  /// others. `iterable` is the caller's description of the position in its
  /// data, or empty.
  Status save(size_t entry, const std::string &folder, int64_t step,
              int64_t keep, const std::string &iterable);
  /// Loads the states of a checkpoint, or of the newest one of a folder, into
  /// an entry. States of the roles `ignoring` stay as they are. `step` receives
  /// the checkpoint's number of steps, and `notes` messages for the user.
  Status resume(size_t entry, const std::string &path,
                const std::vector<std::string> &ignoring, int64_t &step,
                std::vector<std::string> &notes);
  /// Returns the caller's description of the position in its data from the
  /// resumed checkpoint, or an empty text.
  const std::string &resumedIterable() const { return iterable; }

  /// Reports the times of an entry's steps since it was loaded, or since
  /// tracing began or ended, in the format of the executable's --json.
  Status report(size_t entry, std::string &json);
  /// Begins or ends a trace of an entry's steps.
  Status trace(size_t entry, bool on);
  /// Returns the trace of an entry in the format of --trace.
  Status traceText(size_t entry, std::string &json);

private:
  explicit Session(const SessionOptions &options)
      : options(options), owner(getpid()) {}
  Status load(const std::string &path);
  Status choosePrograms(const std::string &path, WorkerSetup &setup);
  Status startRanks(const std::string &path, const WorkerSetup &setup);
  Status checkInputs(size_t entry, const void *const *inputs) const;
  /// A step that nobody has waited for yet.
  struct Request {
    uint32_t number = 0; // of its task
    size_t entry = 0;
    bool isUnderWay = false;
    bool isAwaited = false;
    double start = 0; // by the monotonic clock
    std::vector<void *> outputs;
  };
  /// The times of the steps of an entry. A step begins at its start or at the
  /// end of the previous one, whichever is later.
  struct Measured {
    static constexpr size_t most = 1024;
    std::vector<double> last; // the last ones, in no order
    int64_t steps = 0;
    double seconds = 0;
    bool traced = false;
  };
  Request &requestOf(uint32_t number) {
    return underWay[number % underWay.size()];
  }
  void note(Request &request, size_t entry, void *const *outputs);
  Status begin(size_t entry, const void *const *inputs, void *const *outputs,
               Request &request);
  /// Marks a request as awaited, which only one call may do.
  Status claim(Request &request, uint32_t number);
  void finish(Request &request);
  bool sharesTensors() const { return workers && board.slots() == 1; }
  void fillSlot(const void *const *inputs, const Request &request);
  void stepAlone(const void *const *inputs, const Request &request);
  const char *allRows(const Port &port);
  /// Checks that a task may begin. A failure changes nothing.
  Status checkReady();
  /// Runs `body`. Its failure ends the session.
  template <typename Body> Status attempt(const char *doing, const Body &body);
  /// Runs `body` after all calls before it, unless one of them failed.
  template <typename Body> Status serve(const char *doing, const Body &body);
  Status fail(const Status &status);
  void measure(const Request &request);
  Measured measuredOf(size_t entry);
  Status reportRanks(size_t entry);
  uint32_t nextTask() const { return workers ? board.next() : steps + 1; }
  /// Posts the next task to the ranks. `number` receives its number.
  Status tell(Task task, size_t entry, size_t index, uint32_t &number);
  /// Makes all ranks do the task.
  Status have(Task task, size_t entry, size_t index);
  Status endRanks();
  /// Waits until each worker has done task `number` - 1. The caller has rank
  /// 0's core unless it gives a patience.
  Status awaitWorkers(uint32_t number);
  Status awaitWorkers(uint32_t number, const Patience &patience);
  std::string causeOf(const Status &status);

  const SessionOptions options;
  const int owner;                             // a process
  std::vector<Program> programs;               // the entries
  Worlds worlds;                               // of the entries
  std::vector<std::vector<ProgramState>> kept; // by entry
  std::vector<int> groups;                     // of states, by entry
  std::mutex calls; // one at a time gives ranks a task, and rank 0 does it
  SharedMemory shared;
  Board board;
  size_t lastEntry = 0;             // of the last task
  std::unique_ptr<Member> member;   // rank 0; null: it is a worker
  std::vector<StepData> data;       // by entry, where rank 0 is the only one
  uint32_t steps = 0;               // that it has begun as the only rank
  std::vector<char> ones;           // of an input that counts rows
  std::unique_ptr<Workers> workers; // null: there are none
  std::mutex records;               // of what follows; taken after `calls`
  std::vector<Request> underWay;    // by slot
  std::vector<Measured> measured;   // by entry
  std::mutex saving;                // one at a time
  std::unique_ptr<CheckpointFolder> saves;
  int64_t resumedStep = -1; // of the checkpoint that it went on from
  std::string iterable;     // of that checkpoint
  double lastEnd = 0;       // of a step
  Buffer ownTrace;          // where rank 0 is the only one
  std::string failure;      // "": none; of a call that began and failed
};

template <typename Body>
Status Session::attempt(const char *doing, const Body &body) {
  Status status = guardMemory(doing, body);
  return status.ok() ? status : fail(status);
}

template <typename Body>
Status Session::serve(const char *doing, const Body &body) {
  std::lock_guard<std::mutex> lock(calls);
  APRT_TRY(checkReady());
  return attempt(doing, body);
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_SESSION_H
