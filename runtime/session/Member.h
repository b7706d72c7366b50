//===- Member.h - A rank of a session ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_MEMBER_H
#define AUTOPAR_RUNTIME_SESSION_MEMBER_H

#include "Board.h"
#include "Rank.h"

#include <vector>

namespace autopar::runtime {

/// A rank of a session, in the process of its owner or in a worker.
class Member {
public:
  Member(World &world, int worldRank)
      : world(world), worldRank(worldRank), rank(world, worldRank),
        states(programStates(world.program.manifest)) {}

  /// Loads, and meets all other ranks, which `board` (null: there are none)
  /// says to have read the same weights.
  Status load(WeightFiles weights, Board *board);

  /// A step with these data; inputs first.
  Status step(const StepData &data);
  /// A state's part of this rank, from and to where the whole is.
  Status readState(size_t state, void *whole);
  Status writeState(size_t state, const void *whole);
  Status end() { return rank.end(); }

  /// Does the board's task with the board's tensors.
  Status follow(Board &board);

  void fail(const Status &status) { rank.fail(status); }

private:
  int indexOf(size_t state) const {
    return states[state]
        .indices[size_t(worldRank / world.program.manifest.devicesPerStage)];
  }

  World &world;
  const int worldRank;
  Rank rank;
  std::vector<ProgramState> states;
  StepData data; // of the board
};

/// A step's data with room for each input and result of the manifest.
StepData emptyStep(const Manifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_MEMBER_H
