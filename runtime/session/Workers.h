//===- Workers.h - The workers of a session ---------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_WORKERS_H
#define AUTOPAR_RUNTIME_SESSION_WORKERS_H

#include "Worker.h"
#include "World.h"

#include <mutex>
#include <thread>

namespace autopar::runtime {

/// The ranks that a session starts from its program's file, and watches. They
/// are not children of the owner, so that it gets no SIGCHLD and its wait()
/// does not find them. They have their own process group, so that Ctrl-C in the
/// owner's terminal does not reach them. They end with the owner, however that
/// ends.
class Workers {
public:
  explicit Workers(World &world) : world(world) {}
  /// Kills the ranks that still run.
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// Starts the ranks. All of the shared memory must exist.
  Status start(const std::string &program, WorkerSetup setup,
               const SharedMemory &memory);
  int first() const { return firstRank; }

  /// Waits at most `seconds` until the workers have ended. They must have been
  /// told to end.
  void end(double seconds);

  /// Explains why the workers ended if no rank has left a message. It is "" if
  /// they did not end.
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
