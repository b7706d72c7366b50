//===- RankFabric.h - How the ranks of a run find each other ----*- C++ -*-===//
//
// What ranks need beside their collectives: a barrier, a few bytes from one to
// all, the end of all waits when a rank fails, and how far each one is. One
// implementation per way of starting ranks: SharedRankFabric (processes that
// were forked on this host) and TcpFabric (processes of torchrun, mpirun or
// srun).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_RANKFABRIC_H
#define AUTOPAR_RUNTIME_TRANSPORT_RANKFABRIC_H

#include "../core/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace autopar::runtime {

/// How far a rank is with the communication that it put on its streams: the
/// number of micro-batches it began, and per stream the last operation that
/// began and that ended, as numbers within the micro-batch from 1 (0: none).
struct RankProgress {
  static constexpr int maxStreams = 8;
  uint32_t step = 0;
  std::array<uint32_t, maxStreams> begun{};
  std::array<uint32_t, maxStreams> done{};
};

class RankFabric {
public:
  virtual ~RankFabric() = default;

  /// Waits for all ranks. Without a deadline only a failure ends the wait.
  /// Adds the time to `waitedSeconds`.
  virtual Status barrier(bool withDeadline, double &waitedSeconds) = 0;

  /// `bytes` (at most maxShared) bytes of rank `root` reach all ranks.
  static constexpr int64_t maxShared = 128;
  virtual Status share(int root, void *data, int64_t bytes) = 0;

  /// Whether `mine` is true on all `ranks` ranks. Every rank calls it.
  Status agree(int rank, int ranks, bool mine, bool &all) {
    all = true;
    for (int root = 0; root < ranks; ++root) {
      uint8_t said = rank == root && mine;
      APRT_TRY(share(root, &said, sizeof(said)));
      all = all && said;
    }
    return Status::success();
  }

  /// Whether a rank failed, so that waits end.
  virtual bool aborted() = 0;

  virtual void publish(const RankProgress &progress) = 0;
  /// What a rank published last.
  virtual Status progressOf(int rank, RankProgress &progress) = 0;
};

/// "rank 1 did not arrive within 60 s (--timeout sets this limit)".
std::string missingRanks(const std::vector<int> &ranks, double timeoutSeconds);

/// What a rank says whose wait ended because another rank failed.
inline Status abortedStatus() {
  return Status::error("ended because another rank failed");
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_RANKFABRIC_H
