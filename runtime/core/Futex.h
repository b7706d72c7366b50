//===- Futex.h - Sleeping on a word of memory -------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_FUTEX_H
#define AUTOPAR_RUNTIME_CORE_FUTEX_H

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace autopar::runtime {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

/// Sleeps while `word` holds `expected`, at most `nanoseconds` (negative: no
/// limit). May return early. `shared` means that several processes use the
/// word.
inline void futexWait(std::atomic<uint32_t> &word, uint32_t expected,
                      int64_t nanoseconds, bool shared) {
  timespec limit = {time_t(nanoseconds / 1000000000),
                    long(nanoseconds % 1000000000)};
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word),
          shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
          nanoseconds < 0 ? nullptr : &limit, nullptr, 0);
}

/// Wakes everyone who sleeps on `word`.
inline void futexWakeAll(std::atomic<uint32_t> &word, bool shared) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word),
          shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr,
          0);
}

/// Tells the core that this is a spin loop.
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Returns the seconds of the monotonic clock.
inline double monotonicSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// The number of attempts of a wait before it sleeps. It first spins, then
/// yields the core to other threads between attempts.
struct Patience {
  int spins;
  int yields;
  /// The longest time that is spent in yields. A yield is short on an idle
  /// core, but may take as long as the time slice of another thread.
  static constexpr double mostSeconds = 0.002;

  /// Returns the patience of threads with a core of their own, or of those that
  /// share one.
  static constexpr Patience ownCore() { return {600, 1500}; }
  static constexpr Patience sharedCore() { return {20, 0}; }

  /// Returns true as soon as `done()` is true, and false when it is time to
  /// sleep.
  template <typename Done> bool wait(const Done &done) const {
    for (int i = 0; i < spins; ++i) {
      if (done())
        return true;
      spinPause();
    }
    double end = yields > 0 ? monotonicSeconds() + mostSeconds : 0;
    for (int i = 0; i < yields && monotonicSeconds() < end; ++i) {
      if (done())
        return true;
      sched_yield();
    }
    return done();
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_FUTEX_H
