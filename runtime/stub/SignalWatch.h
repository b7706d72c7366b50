//===- SignalWatch.h - Ctrl-C and SIGTERM -----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_SIGNALWATCH_H
#define AUTOPAR_RUNTIME_STUB_SIGNALWATCH_H

#include "Run.h"

#include <atomic>
#include <csignal>
#include <thread>

namespace autopar::runtime {

/// Takes SIGINT and SIGTERM of this process in a thread, until it is destroyed.
/// The first one asks a training whose steps have begun to end after the step
/// that it is in; it has --grace seconds for that. Whatever else runs, a second
/// one, and the end of the grace end the process at once, and the ranks that it
/// forked with it.
class SignalWatch {
public:
  /// Blocks the signals, also for threads and processes that come later.
  explicit SignalWatch(Run &run);
  ~SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;

  /// Starts the thread: after the ranks are forked.
  Status start();
  /// The ranks have ended: the results may take as long as they take.
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
