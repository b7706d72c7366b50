//===- Session.h - A program that stays -------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_SESSION_H
#define AUTOPAR_RUNTIME_SESSION_SESSION_H

#include "Member.h"
#include "Workers.h"

#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace autopar::runtime {

struct SessionOptions : RankOptions {
  std::string entry;   // empty: the first
  std::string weights; // as --weights names them; empty: those compiled with
};

/// A program that is loaded once and then takes steps as often as its callers
/// want, one of them at a time. Of a program for CPUs rank 0 runs on the
/// caller's thread; all other ranks are workers.
class Session {
public:
  /// Loads an entry of the executable `path` with its weights.
  static Status open(const std::string &path, const SessionOptions &options,
                     std::unique_ptr<Session> &session);
  /// In a process that was forked from the owner nothing ends.
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const Manifest &manifest() const { return program.manifest; }
  /// The tensors that one step leaves for the next one.
  const std::vector<ProgramState> &states() const { return kept; }
  /// Threads of each rank that compute, the caller's among those of rank 0.
  int threads() const { return world.threads; }

  /// One step. `inputs` are whole tensors by manifest().inputs, of which one
  /// without elements may be null; `outputs` by manifest().outputs, null: not
  /// wanted. An input that is refused changes nothing; after any other failure
  /// each call fails with its message.
  Status run(const void *const *inputs, void *const *outputs);

  /// The state number `index` of states(), whole.
  Status readState(size_t index, void *to);
  Status writeState(size_t index, const void *from);

private:
  explicit Session(const SessionOptions &options)
      : options(options), owner(getpid()), world(program, this->options) {}
  Status load(const std::string &path);
  Status chooseProgram(const std::string &path, WorkerSetup &setup);
  Status startRanks(const std::string &path, const WorkerSetup &setup);
  Status checkInputs(const void *const *inputs) const;
  Status runAlone(const void *const *inputs, void *const *outputs);
  Status runOnAll(const void *const *inputs, void *const *outputs);
  /// Runs `body` after all calls before it, unless one of them failed.
  template <typename Body> Status serve(const char *doing, const Body &body);
  /// Has all ranks do the board's task.
  Status have(Task task, size_t index = 0);
  Status awaitWorkers(uint32_t number);
  std::string causeOf(const Status &status);

  const SessionOptions options;
  const int owner; // a process
  Program program;
  World world;
  std::vector<ProgramState> kept;
  std::mutex mutex; // of what follows
  SharedMemory shared;
  Board board;
  std::unique_ptr<Member> member;   // rank 0; null: it is a worker
  StepData data;                    // of its steps, where it is the only rank
  std::unique_ptr<Workers> workers; // null: there are none
  std::string failure;              // "": none; of a call that began and failed
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_SESSION_H
