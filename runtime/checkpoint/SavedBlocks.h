//===- SavedBlocks.h - The states of a program ------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_SAVEDBLOCKS_H
#define AUTOPAR_RUNTIME_CHECKPOINT_SAVEDBLOCKS_H

#include "../core/Manifest.h"
#include "Checkpoint.h"

namespace autopar::runtime {

/// Returns the name of a state in checkpoints, such as `model/fc.weight`.
std::string stateKey(StateRole role, const std::string &name);

/// Returns a state as the box that covers all of it.
StateBlock wholeOf(const PersistentEntry &entry);

/// A block that a rank saves, and the persistent tensor that has it.
struct SavedBlock {
  StateBlock block;
  int index = 0;
};

/// Returns the blocks that a rank saves. They belong to the first stage that
/// has the state; of equal blocks only the first rank saves its own. The blocks
/// of all ranks together contain each state once.
std::vector<SavedBlock> blocksOfRank(const Manifest &manifest, int rank);

/// Excludes the states of a role that a run may begin anew, such as
/// `optimizer`.
Status leaveOutRole(Checkpoint &checkpoint, const std::string &role);

/// Checks that the program has exactly the states of the checkpoint, with the
/// same types and shapes, apart from excluded ones. The message names the first
/// difference.
Status checkStates(const Checkpoint &checkpoint, const Manifest &program);

/// Returns a warning if the hashes show that model or recipe differ from those
/// that the checkpoint was written with, although checkStates succeeded. It is
/// "" if they are equal or not known. If the optimizer's states are excluded,
/// another recipe is expected.
std::string doubtOfHashes(const Checkpoint &checkpoint,
                          const Manifest &program);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_SAVEDBLOCKS_H
