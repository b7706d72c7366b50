//===- ThreadPool.cpp - The threads of one rank ---------------------------===//

#include "ThreadPool.h"

namespace autopar::runtime {

ThreadPool::ThreadPool(int threads, bool spin, bool alone)
    : threadCount(threads < 1 ? 1 : threads), moves(spin && alone),
      patience(spin ? Patience::ownCore() : Patience::sharedCore()),
      places(threadCount) {
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

void ThreadPool::runShare(int worker) {
  if (moves)
    places.keepApart(worker);
  for (int64_t piece = worker; piece < jobPieces; piece += threadCount)
    jobCall(jobContext, piece);
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
    ++seen; // the next job starts only after every worker finished this one
    if (stopping.load())
      return;
    runShare(worker);
    if (pending.fetch_sub(1) == 1)
      futexWakeAll(pending, /*shared=*/false);
  }
}

void ThreadPool::runPieces(int64_t pieces, Call call, const void *context) {
  jobPieces = pieces;
  jobCall = call;
  jobContext = context;
  pending.store(uint32_t(threadCount - 1));
  generation.fetch_add(1);
  if (sleepers.load() > 0)
    futexWakeAll(generation, /*shared=*/false);
  runShare(0);
  patience.wait([&] { return pending.load() == 0; });
  while (uint32_t left = pending.load())
    futexWait(pending, left, -1, /*shared=*/false);
}

} // namespace autopar::runtime
