//===- EndRequest.h - A training that is asked to end -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_ENDREQUEST_H
#define AUTOPAR_RUNTIME_STUB_ENDREQUEST_H

#include "../core/SharedMemory.h"

#include <atomic>

namespace autopar::runtime {

/// The signal that asks a training to end before its last step, and the step
/// that the ranks of this host do not begin any more. In memory that they
/// share.
class EndRequest {
public:
  Status create(SharedMemory &shared);

  /// Keeps the first signal.
  void note(int signal);
  /// 0: none came.
  int signal() const { return state().signal.load(); }

  /// Rank 0, before it comes to the barrier before `step`: no rank begins it.
  void endBefore(int64_t step) { state().step.store(step); }
  /// Any rank, after that barrier.
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
