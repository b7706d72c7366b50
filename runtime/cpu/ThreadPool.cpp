//===- ThreadPool.cpp - The threads of one rank ---------------------------===//

#include "ThreadPool.h"

namespace autopar::runtime {

ThreadPool::ThreadPool(int threads, bool spin, bool alone)
    : threadCount(threads < 1 ? 1 : threads), moves(spin && alone),
      patience(spin ? Patience::ownCore() : Patience::sharedCore()),
      places(threadCount), lanes(size_t(threadCount)) {
  for (int worker = 1; worker < threadCount; ++worker)
    workers.emplace_back([this, worker] { workerLoop(worker); });
}

ThreadPool::~ThreadPool() {
  stopping.store(true);
  generation.fetch_add(1);
  futexWakeAll(generation, /*shared=*/false);
  for (std::thread &worker : workers)
    worker.join();
}

bool ThreadPool::take(int lane, uint32_t number) {
  uint32_t before = number - 1; // all lanes of the last job were taken
  return lanes[size_t(lane)].taken.compare_exchange_strong(before, number);
}

void ThreadPool::runLane(int lane) {
  for (int64_t piece = lane; piece < job.pieces; piece += threadCount)
    job.call(job.context, piece);
}

void ThreadPool::workerLoop(int worker) {
  uint32_t seen = 0;
  while (true) {
    patience.wait([&] { return generation.load() != seen; });
    while (generation.load() == seen) {
      sleepers.fetch_add(1);
      futexWait(generation, seen, -1, /*shared=*/false);
      sleepers.fetch_sub(1);
    }
    seen = generation.load(); // may have missed jobs that others did
    if (stopping.load())
      return;
    if (!take(worker, seen))
      continue;
    if (moves)
      places.keepApart(worker);
    runLane(worker);
    // The job stands for as long as this lane does not count as done.
    uint32_t done = 1;
    for (int lane = worker + 1;
         job.anyThread && lane < threadCount && take(lane, seen);
         ++lane, ++done)
      runLane(lane);
    if (pending.fetch_sub(done) == done)
      futexWakeAll(pending, /*shared=*/false);
  }
}

void ThreadPool::runJob(const Job &next) {
  job = next;
  pending.store(uint32_t(threadCount - 1));
  uint32_t number = generation.fetch_add(1) + 1;
  if (sleepers.load() > 0)
    futexWakeAll(generation, /*shared=*/false);
  if (moves)
    places.keepApart(0);
  runLane(0);
  uint32_t taken = 0;
  for (int lane = threadCount - 1; job.anyThread && lane > 0; --lane)
    if (take(lane, number)) {
      runLane(lane);
      ++taken;
    }
  pending.fetch_sub(taken);
  patience.wait([&] { return pending.load() == 0; });
  while (uint32_t left = pending.load())
    futexWait(pending, left, -1, /*shared=*/false);
}

} // namespace autopar::runtime
