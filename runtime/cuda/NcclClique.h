//===- NcclClique.h - A rank's NCCL communicators ---------------*- C++ -*-===//
//
// One communicator of all ranks, and one per group of the manifest's
// communicators and per pair of ranks that channels join, split from it. All
// are non-blocking: every wait ends at a deadline, or when another rank fails.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_NCCLCLIQUE_H
#define AUTOPAR_RUNTIME_CUDA_NCCLCLIQUE_H

#include "../core/Manifest.h"
#include "../transport/RankFabric.h"
#include "NcclApi.h"

#include <functional>

namespace autopar::runtime {

/// This rank's end of a group of ranks.
struct NcclGroup {
  ncclComm_t comm = nullptr; // null: a group of one, or this rank is in none
  std::vector<int> ranks;    // of the world, in member order; empty: in none
  int index = -1;            // of this rank

  int members() const { return int(ranks.size()); }
};

class NcclClique {
public:
  /// All arguments must outlive the clique.
  NcclClique(const NcclApi &nccl, const Manifest &manifest, int rank,
             RankFabric &fabric, double timeoutSeconds)
      : nccl(nccl), manifest(manifest), rank(rank), fabric(fabric),
        timeoutSeconds(timeoutSeconds) {}
  /// Communicators that close() did not end are aborted.
  ~NcclClique() { abort(); }
  NcclClique(const NcclClique &) = delete;
  NcclClique &operator=(const NcclClique &) = delete;

  /// Makes all communicators; every rank calls it.
  Status create();
  /// Ends them in good order, when all work is done; every rank calls it.
  Status close();
  /// Ends them at once, work that runs included. May be called twice.
  void abort();

  const NcclGroup &group(int comm) const { return groups[size_t(comm)]; }
  /// Of the two ranks that a channel joins. All channels between two stages
  /// share it: a step's messages have one order, on one stream.
  const NcclGroup &pair(int channel) const {
    return pairs[pairOfChannel[size_t(channel)]];
  }

  /// The first failure that NCCL met in the background.
  Status asyncError();
  /// Tells what stands against waiting on, after so many seconds. Without, as
  /// while communicators are made and ended, there is a deadline.
  using Poll = std::function<Status(double waitedSeconds)>;
  void setPoll(Poll wanted) { poll = std::move(wanted); }
  /// Waits until what `call` began on `comm` is under way: NCCL's thread may be
  /// busy with it even where the call has returned success.
  Status settle(ncclResult_t result, const char *call, ncclComm_t comm) const;

  /// Registers memory that collectives use, where NCCL can; it is used without
  /// otherwise.
  void use(void *memory, int64_t bytes);
  /// Before that memory is freed.
  void unuse();

private:
  Status createWorld();
  ncclResult_t stateOf(ncclComm_t comm) const;
  ncclResult_t splitState(const ncclComm_t *child) const;
  Status split(NcclGroup &group, bool isMember, int color);
  Status splitGroups();
  void listPairs();
  Status splitPairs();
  Status mayWait(const char *call, double waitedSeconds) const;
  /// Looks at `state` until it says that nothing is in progress.
  Status waitWhile(const std::function<ncclResult_t()> &state, const char *call,
                   ncclComm_t comm) const;
  /// visit(ncclComm_t &) of each communicator, the parent last.
  template <typename Visit> Status forEachComm(const Visit &visit);

  const NcclApi &nccl;
  const Manifest &manifest;
  int rank;
  RankFabric &fabric;
  double timeoutSeconds;
  Poll poll;
  ncclComm_t world = nullptr;
  std::vector<NcclGroup> groups; // by communicator of the manifest
  std::vector<NcclGroup> pairs;  // by pair of stages that channels join
  std::vector<size_t> pairOfChannel;
  struct Registration {
    ncclComm_t comm;
    void *handle;
  };
  std::vector<Registration> registrations;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_NCCLCLIQUE_H
