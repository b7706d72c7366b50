//===- Workers.h - The workers of a session ---------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_WORKERS_H
#define AUTOPAR_RUNTIME_SESSION_WORKERS_H

#include "Worker.h"
#include "World.h"

#include <mutex>
#include <thread>

namespace autopar::runtime {

/// The ranks that a session starts of its program's file, and watches. They are
/// no children of the owner, which gets no SIGCHLD of them and whose wait()
/// does not find them, and in a process group of their own, so that Ctrl-C of
/// the owner's terminal is not theirs. They end with the owner, however that
/// ends.
class Workers {
public:
  explicit Workers(World &world) : world(world) {}
  /// Kills those that still run.
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// All of the shared memory is there.
  Status start(const std::string &program, WorkerSetup setup,
               const SharedMemory &memory);
  int first() const { return firstRank; }

  /// The workers have been told to end: waits until they have, for `seconds` at
  /// most.
  void end(double seconds);

  /// Why all of them ended, where no rank has left a message; "": they did not.
  std::string death();

private:
  void watch();

  World &world;
  int firstRank = 0;
  int process = -1; // a pidfd
  int socket = -1;
  int wake = -1; // an eventfd
  std::thread thread;
  std::mutex mutex;
  std::string deathText;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_WORKERS_H
