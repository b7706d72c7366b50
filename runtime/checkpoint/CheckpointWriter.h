//===- CheckpointWriter.h - Saving while steps go on ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H

#include "../core/SharedMemory.h"
#include "CheckpointFile.h"
#include "CheckpointFolder.h"
#include "SavedBlocks.h"

#include <atomic>
#include <sys/types.h>
#include <thread>

namespace autopar::runtime {

/// The memory in which the ranks of a host inform each other about checkpoints.
class CheckpointBoard {
public:
  Status create(int ranks, SharedMemory &shared);

  struct Rank {
    std::atomic<int64_t> written{-1}; // the last step of which its file is
    std::atomic<int64_t> failed{-1};  // the last step of which it is not
    char message[512] = {};           // why; complete before `failed` is set
  };
  Rank &of(int rank) const { return static_cast<Rank *>(memory.data())[rank]; }
  int ranks() const { return count; }
  /// Requests that the states be saved as they are before `step`. Rank 0 calls
  /// it before it reaches the barrier before that step.
  void saveBefore(int64_t step) const { due().store(step); }
  /// Returns whether the states are saved before `step`. Any rank may call it
  /// after that barrier.
  bool savesBefore(int64_t step) const { return due().load() == step; }

private:
  std::atomic<int64_t> &due() const {
    return *static_cast<std::atomic<int64_t> *>(dueMemory.data());
  }

  Buffer memory, dueMemory;
  int count = 0;
};

/// Saves the blocks of one rank. It copies them at once to memory that was
/// allocated before, and a thread writes the copy while steps continue. Rank
/// 0's thread makes a checkpoint from the files of all ranks.
class CheckpointWriter {
public:
  /// `aborted` ends waits for other ranks.
  CheckpointWriter(const CheckpointFolder &folder, CheckpointBoard &board,
                   const Manifest &manifest, int rank, int64_t keep,
                   std::atomic<uint32_t> &aborted);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter &) = delete;
  CheckpointWriter &operator=(const CheckpointWriter &) = delete;

  /// Saves the blocks after waiting for the previous save. `read` provides the
  /// current bytes of a block.
  using Read = std::function<Status(const SavedBlock &saved, void *to)>;
  Status save(int64_t step, const Read &read, const TrainingPlace &place = {});
  /// Waits for the last save.
  void finish();
  /// Returns the step of the last save that was begun, or -1 if there is none.
  int64_t lastStep() const { return last; }

private:
  void begin(const std::function<void()> &work);
  void takeMemory();
  void stepBack();
  void write(int64_t step);
  Status writeOwn(int64_t step);
  Status awaitAll(int64_t step) const;

  const CheckpointFolder &folder;
  CheckpointBoard &board;
  const Manifest &manifest;
  const int rank;
  const int64_t keep;
  std::atomic<uint32_t> &aborted;
  const std::vector<SavedBlock> blocks;
  FileImage image; // with the copies of the blocks
  Status memory;   // whether there is enough for it
  int64_t last = -1;
  TrainingPlace lastPlace;
  std::thread thread;
  const int usualNice;          // priority of the threads of steps
  std::atomic<pid_t> number{0}; // of the thread that writes; 0: not yet
  std::atomic<bool> isAwaited{false};
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
