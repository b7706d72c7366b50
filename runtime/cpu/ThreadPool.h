//===- ThreadPool.h - The threads of one rank -------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_THREADPOOL_H
#define AUTOPAR_RUNTIME_CPU_THREADPOOL_H

#include "../core/Futex.h"
#include "ThreadPlaces.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace autopar::runtime {

/// Persistent workers. The calling thread is worker 0. Workers spin briefly
/// after a job and then sleep. One job at a time, from one thread.
///
/// Lane L of a job is its pieces L, L + threads(), L + 2 threads() and so on.
/// One thread does a lane, piece after piece: thread L if it comes in time,
/// which finds in its caches what it left there, else a thread that has done
/// its own. So a job never waits for a thread that sleeps or that the system
/// keeps from running for another program's sake, only for one that has begun.
class ThreadPool {
public:
  /// `spin`: whether waiting threads may burn a core that nobody else needs.
  /// `alone`: whether no other pool that spins shares the cores; only then is
  /// a core that none of these threads uses an idle one, to move to.
  explicit ThreadPool(int threads, bool spin = true, bool alone = true);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return threadCount; }

  /// Calls work(piece) for piece in [0, pieces) and returns when all are done.
  /// Pieces of one lane never run at the same time: they may use the same
  /// scratch. `work` must not throw.
  template <typename Work> void run(int64_t pieces, const Work &work) {
    if (pieces <= 1 || threadCount == 1) {
      for (int64_t piece = 0; piece < pieces; ++piece)
        work(piece);
      return;
    }
    runJob({pieces, &callWork<Work>, &work, /*anyThread=*/true});
  }

  /// Calls work() once in every thread of the pool.
  template <typename Work> void runInEachThread(const Work &work) {
    auto ignorePiece = [&](int64_t) { work(); };
    runJob({threadCount, &callWork<decltype(ignorePiece)>, &ignorePiece,
            /*anyThread=*/false});
  }

  /// Calls work(begin, end) over [0, total) in at most threads() ranges of at
  /// least `grain`.
  template <typename Work>
  void split(int64_t total, int64_t grain, const Work &work) {
    if (total <= 0)
      return;
    int64_t pieces = total / (grain < 1 ? 1 : grain);
    pieces = pieces < 1 ? 1 : pieces;
    pieces = pieces < threadCount ? pieces : threadCount;
    run(pieces, [&](int64_t piece) {
      work(total * piece / pieces, total * (piece + 1) / pieces);
    });
  }

private:
  struct Job {
    int64_t pieces;
    void (*call)(const void *context, int64_t piece);
    const void *context;
    bool anyThread; // may do a lane
  };
  /// The number of the last job in which a thread took this lane.
  struct alignas(64) Lane {
    std::atomic<uint32_t> taken{0};
  };

  template <typename Work>
  static void callWork(const void *context, int64_t piece) {
    (*static_cast<const Work *>(context))(piece);
  }
  void runJob(const Job &next);
  bool take(int lane, uint32_t number);
  void runLane(int lane);
  void workerLoop(int worker);

  int threadCount;
  bool moves;
  Patience patience;
  ThreadPlaces places;
  std::vector<Lane> lanes;
  std::vector<std::thread> workers;

  // The current job; `generation` is its number, `pending` counts lanes but
  // the caller's that are not done.
  Job job{};
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<uint32_t> pending{0};
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_THREADPOOL_H
