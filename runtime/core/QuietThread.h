//===- QuietThread.h - A thread that takes no signal ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_QUIETTHREAD_H
#define AUTOPAR_RUNTIME_CORE_QUIETTHREAD_H

#include <csignal>
#include <functional>
#include <thread>

namespace autopar::runtime {

/// Starts a thread that blocks signals, which are for the threads that expect
/// them.
inline std::thread startQuietThread(const std::function<void()> &work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_QUIETTHREAD_H
