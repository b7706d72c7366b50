//===- SharedRankFabric.h - Ranks forked on one host ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_SHAREDRANKFABRIC_H
#define AUTOPAR_RUNTIME_TRANSPORT_SHAREDRANKFABRIC_H

#include "RankFabric.h"
#include "SharedFabric.h"

namespace autopar::runtime {

/// One rank's end of the launcher's SharedFabric.
class SharedRankFabric : public RankFabric {
public:
  /// `fabric` must outlive this.
  SharedRankFabric(SharedFabric &fabric, int rank, double timeoutSeconds,
                   Patience patience)
      : fabric(fabric), rank(rank),
        waiter(fabric.aborted(), timeoutSeconds, patience) {}

  Status barrier(bool withDeadline, double &waitedSeconds) override;
  Status share(int root, void *data, int64_t bytes) override;
  bool aborted() override { return fabric.aborted().load() != 0; }
  void publish(const RankProgress &progress) override;
  Status progressOf(int rank, RankProgress &progress) override;

private:
  SharedFabric &fabric;
  int rank;
  Waiter waiter;
  uint32_t sequence = 0; // meetings so far
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_SHAREDRANKFABRIC_H
