//===- ThreadPlaces.h - Threads that must not share a core ------*- C++ -*-===//
//
// Threads that hand each other work of microseconds never sleep, so that the
// system may leave two of them on one core for seconds, taking turns, while
// another core is idle.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_THREADPLACES_H
#define AUTOPAR_RUNTIME_CPU_THREADPLACES_H

#include <atomic>
#include <sched.h>
#include <vector>

namespace autopar::runtime {

/// Where the threads of a pool run.
class ThreadPlaces {
public:
  explicit ThreadPlaces(int threads);

  /// Called by thread `thread` of the pool now and then. If a thread before it
  /// runs on the same core, it moves to one that no thread of the pool uses,
  /// where it may run on any core as before; at most once in some
  /// milliseconds, as other programs may need that core.
  void keepApart(int thread);

private:
  struct alignas(64) Place {
    std::atomic<int> core{-1};
    double lastMove = 0;
  };
  void move(int thread);

  std::vector<Place> places;
  cpu_set_t allowed;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_THREADPLACES_H
