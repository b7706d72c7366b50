//===- SavedBlocks.h - The states of a program ------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_SAVEDBLOCKS_H
#define AUTOPAR_RUNTIME_CHECKPOINT_SAVEDBLOCKS_H

#include "../core/Manifest.h"
#include "Checkpoint.h"

namespace autopar::runtime {

/// Checkpoints call a state so: `model/fc.weight`.
std::string stateKey(StateRole role, const std::string &name);

/// A state as the box that is all of it.
StateBlock wholeOf(const PersistentEntry &entry);

/// A block that a rank saves, and which of its persistent tensors has it.
struct SavedBlock {
  StateBlock block;
  int index = 0;
};

/// The blocks that a rank saves. They are of the first stage that has the
/// state; of equal blocks the first rank saves its own. All ranks' blocks
/// together are each state once.
std::vector<SavedBlock> blocksOfRank(const Manifest &manifest, int rank);

/// Leaves out the states of a role that a run may begin anew: `optimizer`.
Status leaveOutRole(Checkpoint &checkpoint, const std::string &role);

/// Fails unless the program has the checkpoint's states, of the same types and
/// shapes, and no others, but for those that are left out. The message names
/// the first that differs.
Status checkStates(const Checkpoint &checkpoint, const Manifest &program);

/// Tells, by their hashes, that model or recipe are others than the checkpoint
/// was written with, though checkStates found nothing; "" if they are not, or
/// nobody knows. With the optimizer's states left out the recipe is expected to
/// be another one.
std::string doubtOfHashes(const Checkpoint &checkpoint,
                          const Manifest &program);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_SAVEDBLOCKS_H
