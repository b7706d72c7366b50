//===- Member.h - A rank of a session ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_MEMBER_H
#define AUTOPAR_RUNTIME_SESSION_MEMBER_H

#include "Board.h"
#include "Rank.h"

#include <memory>
#include <vector>

namespace autopar::runtime {

/// The worlds of all entries of a program, which a session loads together.
using Worlds = std::vector<std::unique_ptr<World>>;
std::vector<const Manifest *> manifestsOf(const Worlds &worlds);
/// Makes the worlds in memory that all ranks take in the same order.
Status makeWorlds(const std::vector<Program> &programs,
                  const RankOptions &options, SharedMemory &shared,
                  Worlds &worlds);
/// Opens the files of each program's weights.
Status openWeights(const std::vector<Program> &programs,
                   const std::string &given, std::vector<WeightFiles> &weights);

/// A rank of a session, in the process of its owner or in a worker. It has a
/// Rank for each entry; one entry takes steps at a time.
class Member {
public:
  /// `worlds` must outlive this.
  Member(const Worlds &worlds, int worldRank);
  ~Member();
  Member(const Member &) = delete;
  Member &operator=(const Member &) = delete;

  /// Loads the entries, each with its opened weights, and waits for all other
  /// ranks. They compare on `board` that all have read the same files; it is
  /// null without other ranks.
  Status load(std::vector<WeightFiles> weights, Board *board);

  /// Runs a step of an entry with these data. Inputs come first.
  Status step(size_t entry, const StepData &data);
  /// Copy this rank's part of a state from or to the whole state.
  Status readState(size_t entry, size_t state, void *whole);
  Status writeState(size_t entry, size_t state, const void *whole);
  /// Restarts the measurement of the entry's steps, with a trace in `trace` if
  /// it is not null.
  Status measure(size_t entry, TraceEvent *trace);
  /// Stores the times of the entry's steps since then in the rank's record.
  void report(size_t entry);
  Status end();

  /// Performs task `number` of the board with the board's tensors.
  Status follow(Board &board, uint32_t number);

  /// Records the failure in the entry that is running.
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
  /// Returns the entry and makes it the running one.
  Entry &begin(size_t entry);
  /// Returns the index of the rank's persistent tensor, or -1 if it has no part
  /// of the state.
  int indexOf(const Entry &entry, size_t state) const;

  const int worldRank;
  std::unique_ptr<RankCommon> common; // null: there is one entry
  std::vector<std::unique_ptr<Entry>> entries;
};

/// Returns a step's data with room for each input and result of the manifest.
StepData emptyStep(const Manifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_MEMBER_H
