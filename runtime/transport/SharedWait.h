//===- SharedWait.h - Waiting for other processes ---------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_SHAREDWAIT_H
#define AUTOPAR_RUNTIME_TRANSPORT_SHAREDWAIT_H

#include "../core/Futex.h"

namespace autopar::runtime {

/// A counter in shared memory that only one process advances.
struct alignas(64) SharedCounter {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> waiters{0};

  void publish(uint32_t next) {
    value.store(next);
    if (waiters.load() > 0)
      futexWakeAll(value, /*shared=*/true);
  }
  /// True once the counter is at `target` or past it (wrap-around is fine).
  bool reached(uint32_t target) const {
    return int32_t(value.load(std::memory_order_acquire) - target) >= 0;
  }
};

enum class WaitResult { Reached, Aborted, TimedOut };

/// How a rank waits: spin briefly, then sleep, looking now and then whether
/// the program was aborted or the deadline is past.
class Waiter {
public:
  /// `aborted` is set by whoever sees that a rank died. `patience` is small
  /// where ranks share cores.
  Waiter(const std::atomic<uint32_t> &aborted, double timeoutSeconds,
         Patience patience)
      : aborted(aborted), timeoutSeconds(timeoutSeconds), patience(patience) {}

  /// Waits until `counter` reaches `target`. Adds the time to *waitedSeconds.
  WaitResult wait(SharedCounter &counter, uint32_t target, bool withDeadline,
                  double &waitedSeconds) const {
    if (counter.reached(target))
      return WaitResult::Reached;
    double start = monotonicSeconds();
    WaitResult result = waitSlow(counter, target, withDeadline, start);
    waitedSeconds += monotonicSeconds() - start;
    return result;
  }

  double timeout() const { return timeoutSeconds; }

private:
  WaitResult waitSlow(SharedCounter &counter, uint32_t target,
                      bool withDeadline, double start) const {
    if (patience.wait([&] { return counter.reached(target); }))
      return WaitResult::Reached;
    while (!counter.reached(target)) {
      if (aborted.load())
        return WaitResult::Aborted;
      if (withDeadline && monotonicSeconds() - start > timeoutSeconds)
        return WaitResult::TimedOut;
      counter.waiters.fetch_add(1);
      uint32_t now = counter.value.load();
      if (int32_t(now - target) < 0)
        futexWait(counter.value, now, sliceNanoseconds, /*shared=*/true);
      counter.waiters.fetch_sub(1);
    }
    return WaitResult::Reached;
  }

  static constexpr int64_t sliceNanoseconds = 50000000;
  const std::atomic<uint32_t> &aborted;
  double timeoutSeconds;
  Patience patience;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_SHAREDWAIT_H
