//===- QuietThread.h - A thread that takes no signal ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_QUIETTHREAD_H
#define AUTOPAR_RUNTIME_CORE_QUIETTHREAD_H

#include <csignal>
#include <functional>
#include <thread>

namespace autopar::runtime {

/// Starts a thread that blocks signals, which are for the threads that expect
/// them. Throws what std::thread throws if the system refuses it.
inline std::thread startQuietThread(const std::function<void()> &work) {
  struct AllBlocked {
    AllBlocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~AllBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  } blocked; // a new thread blocks what this one does
  return std::thread(work);
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_QUIETTHREAD_H
