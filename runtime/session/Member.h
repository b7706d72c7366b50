//===- Member.h - A rank of a session ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_MEMBER_H
#define AUTOPAR_RUNTIME_SESSION_MEMBER_H

#include "Board.h"
#include "Rank.h"

#include <memory>
#include <vector>

namespace autopar::runtime {

/// The worlds of a program's entries, all of which a session loads.
using Worlds = std::vector<std::unique_ptr<World>>;
std::vector<const Manifest *> manifestsOf(const Worlds &worlds);
/// Makes them in memory that all ranks take in the same order.
Status makeWorlds(const std::vector<Program> &programs,
                  const RankOptions &options, SharedMemory &shared,
                  Worlds &worlds);
/// Opens the files of each program's weights.
Status openWeights(const std::vector<Program> &programs,
                   const std::string &given, std::vector<WeightFiles> &weights);

/// A rank of a session, in the process of its owner or in a worker: it is a
/// Rank in each entry, of which one takes steps at a time.
class Member {
public:
  /// `worlds` must outlive it.
  Member(const Worlds &worlds, int worldRank);
  ~Member();
  Member(const Member &) = delete;
  Member &operator=(const Member &) = delete;

  /// Loads the entries, each with its opened weights, and meets all other
  /// ranks, which `board` (null: there are none) says to have read the same.
  Status load(std::vector<WeightFiles> weights, Board *board);

  /// A step of an entry with these data; inputs first.
  Status step(size_t entry, const StepData &data);
  /// A state's part of this rank, from and to where the whole is.
  Status readState(size_t entry, size_t state, void *whole);
  Status writeState(size_t entry, size_t state, const void *whole);
  /// Begins to measure the entry's steps anew, into `trace` if it is not null.
  Status measure(size_t entry, TraceEvent *trace);
  /// Leaves in the rank's record what the entry's steps took since.
  void report(size_t entry);
  Status end();

  /// Does task `number` of the board with the board's tensors.
  Status follow(Board &board, uint32_t number);

  /// Leaves the failure with the entry that is at work.
  void fail(const Status &status);

private:
  struct Entry {
    Entry(World &world, int worldRank, RankCommon *common)
        : world(world), rank(world, worldRank, common),
          states(programStates(world.program.manifest)) {}
    World &world;
    Rank rank;
    std::vector<ProgramState> states;
    StepData data; // of the board
    // Since measure():
    int64_t steps = 0;
    double seconds = 0;
    DeviceCounters before;
  };
  Status load(Entry &entry, WeightFiles weights, Board *board);
  Status stepOnBoard(const BoardSlot &slot);
  /// The entry, which is at work from now on.
  Entry &begin(size_t entry);
  /// The index of the rank's persistent tensor; -1: it has no part of the
  /// state.
  int indexOf(const Entry &entry, size_t state) const;

  const int worldRank;
  std::unique_ptr<RankCommon> common; // null: there is one entry
  std::vector<std::unique_ptr<Entry>> entries;
};

/// A step's data with room for each input and result of the manifest.
StepData emptyStep(const Manifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_MEMBER_H
