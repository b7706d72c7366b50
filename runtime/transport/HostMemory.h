//===- HostMemory.h - Memory of a launcher's ranks on one host --*- C++ -*-===//
//
// Ranks that a launcher starts are no children of each other. Rank 0 makes the
// memory that they share and tells the others where it is; each of them opens
// it through /proc, which only a process of the same user on the same host can.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_HOSTMEMORY_H
#define AUTOPAR_RUNTIME_TRANSPORT_HOSTMEMORY_H

#include "../core/SharedMemory.h"
#include "RankFabric.h"

namespace autopar::runtime {

/// The place of a process's shared memory. Ranks send each other its bytes.
struct HostMemory {
  char boot[40] = {}; // differs from host to host
  char host[40] = {}; // the name of the host, cut off
  int32_t process = 0;
  int32_t descriptor = -1;
  uint64_t device = 0, inode = 0; // of the file
  int64_t bytes = 0;
};
static_assert(sizeof(HostMemory) <= RankFabric::maxShared);

/// Describes this process's memory, with all pieces that others take; -1 as a
/// descriptor describes the host alone.
HostMemory describeMemory(int descriptor, int64_t bytes);

/// Fails unless rank `rank`, which is on the host of `mine`, and rank 0 are on
/// one host.
Status checkHost(const HostMemory &first, const HostMemory &mine, int rank);

/// Lets rank `rank`, this process, take the pieces of rank 0's memory.
Status attachMemory(const HostMemory &first, int rank, SharedMemory &memory);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_HOSTMEMORY_H
