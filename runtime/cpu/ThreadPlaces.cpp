//===- ThreadPlaces.cpp - Threads that must not share a core --------------===//

#include "ThreadPlaces.h"

#include "../core/Futex.h"

namespace autopar::runtime {

static constexpr double secondsBetweenMoves = 0.005;

ThreadPlaces::ThreadPlaces(int threads) : places(size_t(threads)) {
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    CPU_ZERO(&allowed); // nowhere to move to
}

void ThreadPlaces::keepApart(int thread) {
  int core = sched_getcpu();
  Place &own = places[size_t(thread)];
  if (own.core.load(std::memory_order_relaxed) != core)
    own.core.store(core, std::memory_order_relaxed);
  for (int other = 0; other < thread; ++other)
    if (places[size_t(other)].core.load(std::memory_order_relaxed) == core)
      return move(thread);
}

void ThreadPlaces::move(int thread) {
  double now = monotonicSeconds();
  Place &own = places[size_t(thread)];
  if (now - own.lastMove < secondsBetweenMoves)
    return;
  own.lastMove = now;
  cpu_set_t before, others = allowed;
  if (sched_getaffinity(0, sizeof(before), &before) != 0)
    return;
  for (const Place &place : places)
    if (int core = place.core.load(std::memory_order_relaxed); core >= 0)
      CPU_CLR(size_t(core), &others);
  CPU_AND(&others, &others, &before);
  if (CPU_COUNT(&others) == 0 ||
      sched_setaffinity(0, sizeof(others), &others) != 0)
    return;
  if (sched_setaffinity(0, sizeof(before), &before) != 0)
    sched_setaffinity(0, sizeof(allowed), &allowed);
  own.core.store(sched_getcpu(), std::memory_order_relaxed);
}

} // namespace autopar::runtime
