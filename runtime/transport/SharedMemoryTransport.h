//===- SharedMemoryTransport.h - Ranks of one host --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_SHAREDMEMORYTRANSPORT_H
#define AUTOPAR_RUNTIME_TRANSPORT_SHAREDMEMORYTRANSPORT_H

#include "../cpu/ThreadPool.h"
#include "Box.h"
#include "SharedFabric.h"
#include "Transport.h"

namespace autopar::runtime {

class SharedMemoryTransport : public Transport {
public:
  /// `fabric`, `manifest` and `pool` must outlive the transport. `patience`
  /// says how long a wait stays on its core before it sleeps.
  SharedMemoryTransport(SharedFabric &fabric, const Manifest &manifest,
                        int rank, ThreadPool &pool, double timeoutSeconds,
                        Patience patience);

  int64_t memberIndex(int comm) const override;
#define APRT_OVERRIDE(name, parameters) Status name parameters override;
  APRT_TRANSPORT_CALLS(APRT_OVERRIDE)
#undef APRT_OVERRIDE
  Status barrier(bool withDeadline) override;

private:
  /// This rank's view of one communicator.
  struct Member {
    SharedGroup *group = nullptr;
    int index = -1;
    uint32_t sequence = 0; // meetings so far
    uint32_t round = 0;    // rounds so far; its parity picks the buffer
    std::vector<const void *> inputs; // scratch, one per member
    std::vector<Box> sends;           // scratch, one per member
    std::vector<Box> receives;
  };

  Status find(int comm, Member *&member);
  /// Says that this member is at its next point, and waits for all the others.
  Status meet(Member &member, bool withDeadline = true);
  Status waitFor(SharedCounter &counter, uint32_t target, int peer);

  Status reduceDirect(Member &member, aprt_reduce kind, aprt_dtype dtype,
                      const char *in, char *out, int64_t bytes);
  Status reduceInSlices(Member &member, aprt_reduce kind, aprt_dtype dtype,
                        const char *in, char *out, int64_t bytes);
  /// Every member j gets sends[j] of this one and unpacks receives[j] from
  /// member j. No pair of members exchanges more than mostBytes.
  Status exchange(Member &member, int64_t mostBytes, const void *in, void *out);
  void copyOwn(Member &member, const void *in, void *out);

  void copy(void *to, const void *from, int64_t bytes);
  void reduce(aprt_reduce kind, aprt_dtype dtype, int64_t bytes,
              const std::vector<const void *> &inputs, char *out);

  SharedFabric &fabric;
  const Manifest &manifest;
  int rank;
  ThreadPool &pool;
  Waiter waiter;
  std::vector<Member> members; // by communicator
  Member world;
  struct Ends {
    uint32_t sent = 0;
    uint32_t received = 0;
  };
  std::vector<Ends> ends; // by channel
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_SHAREDMEMORYTRANSPORT_H
