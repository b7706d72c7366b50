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

/// The ranks of a host tell each other here about checkpoints, in memory that
/// they share.
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
  /// Rank 0 calls this before it comes to the barrier before `step`: the states
  /// are saved as they are then.
  void saveBefore(int64_t step) const { due().store(step); }
  /// Any rank may ask after that barrier.
  bool savesBefore(int64_t step) const { return due().load() == step; }

private:
  std::atomic<int64_t> &due() const {
    return *static_cast<std::atomic<int64_t> *>(dueMemory.data());
  }

  Buffer memory, dueMemory;
  int count = 0;
};

/// Saves the blocks of one rank: a copy is made at once, in memory that is
/// taken before, and a thread writes it while steps go on. Rank 0's thread
/// makes a checkpoint of all ranks' files.
class CheckpointWriter {
public:
  /// `aborted` ends waits for other ranks.
  CheckpointWriter(const CheckpointFolder &folder, CheckpointBoard &board,
                   const Manifest &manifest, int rank, int64_t keep,
                   std::atomic<uint32_t> &aborted);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter &) = delete;
  CheckpointWriter &operator=(const CheckpointWriter &) = delete;

  /// `read` brings a block's bytes as they are. Waits for the save before it.
  using Read = std::function<Status(const SavedBlock &saved, void *to)>;
  Status save(int64_t step, const Read &read, const TrainingPlace &place = {});
  /// Waits for the last save.
  void finish();
  /// The step of the last save that was begun; -1: there is none.
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
