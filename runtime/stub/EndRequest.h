//===- EndRequest.h - A training that is asked to end -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_ENDREQUEST_H
#define AUTOPAR_RUNTIME_STUB_ENDREQUEST_H

#include "../core/SharedMemory.h"

#include <atomic>

namespace autopar::runtime {

/// The signal that asks a training to end before its last step, and the step
/// before which the ranks of this host end. Both are in memory that the ranks
/// share.
class EndRequest {
public:
  Status create(SharedMemory &shared);

  /// Stores the signal unless there was one before.
  void note(int signal);
  /// Returns the stored signal, or 0 if there was none.
  int signal() const { return state().signal.load(); }

  /// Makes all ranks end before `step`. Rank 0 calls it before it reaches the
  /// barrier before that step.
  void endBefore(int64_t step) { state().step.store(step); }
  /// Returns whether the ranks end before `step`. Any rank may call it after
  /// that barrier.
  bool endsBefore(int64_t step) const { return state().step.load() == step; }

private:
  struct State {
    std::atomic<int32_t> signal{0};
    std::atomic<int64_t> step{-1};
  };
  State &state() const { return *static_cast<State *>(memory.data()); }

  Buffer memory;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_ENDREQUEST_H
