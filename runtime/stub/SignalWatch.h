//===- SignalWatch.h - Ctrl-C and SIGTERM -----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_SIGNALWATCH_H
#define AUTOPAR_RUNTIME_STUB_SIGNALWATCH_H

#include "Run.h"

#include <atomic>
#include <csignal>
#include <thread>

namespace autopar::runtime {

/// Handles SIGINT and SIGTERM of this process in a thread, until it is
/// destroyed. The first signal asks a training whose steps have begun to end
/// after the current step, within --grace seconds. The process and the ranks
/// that it forked end at once on a second signal, when the grace period is
/// over, or on the first signal outside the steps of a training.
class SignalWatch {
public:
  /// Blocks the signals, also for later threads and processes.
  explicit SignalWatch(Run &run);
  ~SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;

  /// Starts the thread. Must be called after the ranks are forked.
  Status start();
  /// Notes that the ranks have ended, so that the grace period does not limit
  /// writing the results.
  void stepsEnded() { steps.store(false); }

private:
  void serve();
  void take(int signal);
  [[noreturn]] void end(int signal, const std::string &why);

  Run &run;
  sigset_t signals;
  int signalled = -1, wake = -1; // descriptors
  std::thread thread;
  std::atomic<bool> steps{true}; // whether they may still run
  double since = 0;              // when the first signal came
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_SIGNALWATCH_H
