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

/// A program that is loaded once, with its entries, and then takes steps as
/// often as its callers want: one at a time, or where an entry's steps overlap,
/// as its pipeline has room. Of a program for CPUs rank 0 runs on the caller's
/// thread; all other ranks are workers.
class Session {
public:
  /// Loads the executable `path` with its weights, which entries that store
  /// them alike have in common.
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
  /// The tensors that one step leaves for the next one.
  const std::vector<ProgramState> &states(size_t entry) const {
    return kept[entry];
  }
  /// The first entry that has the state number `index` of states(entry) in
  /// common with it.
  size_t ownerOf(size_t entry, size_t index) const;
  /// Threads of each rank that compute, the caller's among those of rank 0.
  int threads() const { return worlds.front()->threads; }

  /// One step of an entry. `inputs` are whole tensors by its manifest's inputs,
  /// of which one without elements may be null; `outputs` by its outputs, null:
  /// not wanted. An input that is refused changes nothing; after any other
  /// failure each call fails with its message.
  Status run(size_t entry, const void *const *inputs, void *const *outputs);

  /// Begins a step as run() does, and returns once the inputs may change. At
  /// most slots() steps are under way, from here until wait() has returned; one
  /// more is refused, which changes nothing.
  Status submit(size_t entry, const void *const *inputs, void *const *outputs,
                int64_t &ticket);
  /// Returns once the outputs of that step are written.
  Status wait(int64_t ticket);
  size_t slots() const { return underWay.size(); }

  /// Memory of an input or output that all ranks share: run() copies nothing
  /// that is there. Null where the only rank reads and writes any memory in
  /// place, and where steps overlap.
  char *sharedInput(size_t entry, size_t index);
  char *sharedOutput(size_t entry, size_t index);

  /// The state number `index` of states(entry), whole.
  Status readState(size_t entry, size_t index, void *to);
  Status writeState(size_t entry, size_t index, const void *from);

  /// Saves the states of an entry, as the last step left them, as the
  /// checkpoint of `step` in a folder of checkpoints, which this session keeps
  /// for itself; of older ones all but `keep` go (0: none). Steps that other
  /// threads take meanwhile would be in some states and not in others.
  /// `iterable`: how the caller's data tell their place; empty: they do not.
  Status save(size_t entry, const std::string &folder, int64_t step,
              int64_t keep, const std::string &iterable);
  /// Gives an entry the states of a checkpoint, or of the newest one of a
  /// folder; states of the roles `ignoring` stay as they are. `step` gets its
  /// number of steps, `notes` what a person is told.
  Status resume(size_t entry, const std::string &path,
                const std::vector<std::string> &ignoring, int64_t &step,
                std::vector<std::string> &notes);
  /// Returns the data's description of their position in the resumed
  /// checkpoint, or an empty text if it has none.
  const std::string &resumedIterable() const { return iterable; }

  /// Tells how long an entry's steps took since it was loaded, or since tracing
  /// began or ended, as the executable's --json does.
  Status report(size_t entry, std::string &json);
  /// Begins or ends a trace of an entry's steps.
  Status trace(size_t entry, bool on);
  /// The trace of an entry, as --trace writes it.
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
  /// One call may wait for it.
  Status claim(Request &request, uint32_t number);
  void finish(Request &request);
  bool sharesTensors() const { return workers && board.slots() == 1; }
  void fillSlot(const void *const *inputs, const Request &request);
  void stepAlone(const void *const *inputs, const Request &request);
  const char *allRows(const Port &port);
  /// Fails, which changes nothing, unless a task may begin.
  Status checkReady();
  /// Runs `body`, whose failure is the session's end.
  template <typename Body> Status attempt(const char *doing, const Body &body);
  /// Runs `body` after all calls before it, unless one of them failed.
  template <typename Body> Status serve(const char *doing, const Body &body);
  Status fail(const Status &status);
  void measure(const Request &request);
  Measured measuredOf(size_t entry);
  Status reportRanks(size_t entry);
  uint32_t nextTask() const { return workers ? board.next() : steps + 1; }
  /// Gives the ranks their next task, of which it is the number.
  Status tell(Task task, size_t entry, size_t index, uint32_t &number);
  /// Has all ranks do the task.
  Status have(Task task, size_t entry, size_t index);
  Status endRanks();
  Status awaitWorkers(uint32_t number);
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
