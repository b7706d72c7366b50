//===- World.h - The ranks of a program on this host ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_WORLD_H
#define AUTOPAR_RUNTIME_SESSION_WORLD_H

#include "../core/RankRecord.h"
#include "../core/SharedMemory.h"
#include "../transport/SharedFabric.h"
#include "../transport/TcpFabric.h"
#include "LaunchPlace.h"
#include "Program.h"
#include "RankOptions.h"

#include <atomic>
#include <memory>

namespace autopar::runtime {

/// Tells a status of waitpid: "was killed by signal 9 (Killed)" or "ended with
/// exit code 3".
std::string howItEnded(int status);

/// The ranks of a program on this host share this. It is made before they are
/// there; they write its shared memory and only read the rest.
/// Each loaded entry of a program has a world of its own; records and failures
/// of the ranks are those of the first one.
class World {
public:
  /// `first` is that of the first entry, which must outlive this; null: this is
  /// it.
  World(const Program &program, const RankOptions &options,
        World *first = nullptr);
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// Decides on threads and takes the shared memory.
  Status create(SharedMemory &shared);

  /// True once create() has made the shared memory.
  bool isThere() const { return common().failure.data() != nullptr; }
  int worldSize() const { return program.manifest.worldSize(); }
  /// The number of the entry among those that are loaded.
  size_t entry() const { return number; }
  RankRecord &record(int rank) const {
    return static_cast<RankRecord *>(common().records.data())[rank];
  }
  /// True for the rank that does what one rank of each host does for all.
  bool isFirstOfHost(int rank) const {
    return place.isAlone() ? rank == 0 : place.localRank == 0;
  }
  /// The launcher's ranks, which the first entry knows; null: alone.
  std::shared_ptr<TcpFabric> launched() const { return common().joined; }
  /// Tells " in or after op 'X' (KIND)" of what a rank is at, or "".
  std::string whereIs(int rank) const;
  /// Tells that the ranks of this host have more threads than there are cores;
  /// "" if each has a core, and where GPUs do the work.
  std::string sharedCores() const;
  /// Number of the rank whose failure came first, or -1.
  std::atomic<int32_t> &firstFailure() const {
    return *static_cast<std::atomic<int32_t> *>(common().failure.data());
  }
  /// Makes `rank` the first failure, if it is, and ends everyone's waits.
  void abort(int rank);
  /// Ends everyone's waits, whichever entry is at work.
  void endWaits();
  /// The same of a rank whose process ended without a message of its own.
  void died(int rank, const std::string &how);

  const Program &program;
  const RankOptions &rankOptions;
  SharedFabric fabric;
  LaunchPlace place;                 // of this process
  std::shared_ptr<TcpFabric> joined; // of the first entry; see launched()
  bool sharesMemory = true;          // all ranks have this shared memory
  int threads = 1;                   // of each rank
  bool spin = true;                  // whether each has a core

private:
  const World &common() const { return first ? *first : *this; }
  const std::vector<World *> &entries() const { return common().all; }

  World *const first;
  const size_t number;
  std::vector<World *> all; // of the first one: by entry
  Buffer records;
  Buffer failure;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_WORLD_H
