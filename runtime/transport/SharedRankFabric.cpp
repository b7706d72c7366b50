//===- SharedRankFabric.cpp - Ranks forked on one host --------------------===//

#include "SharedRankFabric.h"

#include <cstring>

namespace autopar::runtime {

Status SharedRankFabric::barrier(bool withDeadline, double &waitedSeconds) {
  return meetGroup(fabric.world(), rank, ++sequence, waiter, withDeadline,
                   waitedSeconds);
}

Status SharedRankFabric::share(int root, void *data, int64_t bytes) {
  if (bytes > maxShared)
    return Status::error("too much to share: " + std::to_string(bytes) +
                         " bytes");
  double waited = 0;
  if (rank == root)
    std::memcpy(fabric.board(), data, size_t(bytes));
  APRT_TRY(barrier(/*withDeadline=*/true, waited));
  if (rank != root)
    std::memcpy(data, fabric.board(), size_t(bytes));
  // Nobody writes the next bytes before all have read these.
  return barrier(/*withDeadline=*/true, waited);
}

void SharedRankFabric::publish(const RankProgress &progress) {
  fabric.progress(rank).store(progress);
}

Status SharedRankFabric::progressOf(int other, RankProgress &progress) {
  progress = fabric.progress(other).load();
  return Status::success();
}

} // namespace autopar::runtime
