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

/// Describes a status of waitpid: "was killed by signal 9 (Killed)" or "ended
/// with exit code 3".
std::string howItEnded(int status);

/// The state that the ranks of a program on this host share. It is made before
/// the ranks, which write its shared memory and only read the rest. Each loaded
/// entry of a program has its own world; records and failures of the ranks are
/// those of the first one.
class World {
public:
  /// `first` is the world of the first entry, which must outlive this. It is
  /// null if this is the first.
  World(const Program &program, const RankOptions &options,
        World *first = nullptr);
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// Chooses the number of threads and takes the shared memory.
  Status create(SharedMemory &shared);

  /// Returns whether create() has made the shared memory.
  bool isThere() const { return common().failure.data() != nullptr; }
  int worldSize() const { return program.manifest.worldSize(); }
  /// Returns the number of the entry among the loaded ones.
  size_t entry() const { return number; }
  RankRecord &record(int rank) const {
    return static_cast<RankRecord *>(common().records.data())[rank];
  }
  /// Returns whether the rank does the work that one rank of each host does for
  /// all.
  bool isFirstOfHost(int rank) const {
    return place.isAlone() ? rank == 0 : place.localRank == 0;
  }
  /// Returns the launcher's ranks, which the first entry knows, or null without
  /// a launcher.
  std::shared_ptr<TcpFabric> launched() const { return common().joined; }
  /// Returns " in or after op 'X' (KIND)" for the current op of a rank, or "".
  std::string whereIs(int rank) const;
  /// Returns a warning if the ranks of this host have more threads than there
  /// are cores. It is "" if each has a core, or if GPUs do the work.
  std::string sharedCores() const;
  /// Returns the number of the rank that failed first, or -1.
  std::atomic<int32_t> &firstFailure() const {
    return *static_cast<std::atomic<int32_t> *>(common().failure.data());
  }
  /// Records `rank` as the first failure unless there was one, and ends all
  /// ranks' waits.
  void abort(int rank);
  /// Ends all ranks' waits, whichever entry is running.
  void endWaits();
  /// Does the same for a rank whose process ended without a message of its own.
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
