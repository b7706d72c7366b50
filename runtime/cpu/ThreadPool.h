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

  /// Calls work(piece) for piece in [0, pieces), piece p on worker p %
  /// threads(), and returns when all are done. `work` must not throw.
  template <typename Work> void run(int64_t pieces, const Work &work) {
    if (pieces <= 1 || threadCount == 1) {
      for (int64_t piece = 0; piece < pieces; ++piece)
        work(piece);
      return;
    }
    runPieces(
        pieces,
        [](const void *context, int64_t piece) {
          (*static_cast<const Work *>(context))(piece);
        },
        &work);
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
  using Call = void (*)(const void *context, int64_t piece);

  void runPieces(int64_t pieces, Call call, const void *context);
  void runShare(int worker);
  void workerLoop(int worker);

  int threadCount;
  bool moves;
  Patience patience;
  ThreadPlaces places;
  std::vector<std::thread> workers;

  // The current job; `generation` publishes it, `pending` counts workers that
  // have not finished it.
  int64_t jobPieces = 0;
  Call jobCall = nullptr;
  const void *jobContext = nullptr;
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<uint32_t> pending{0};
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_THREADPOOL_H
