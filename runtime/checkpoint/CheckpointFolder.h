//===- CheckpointFolder.h - The checkpoints of a run ------------*- C++ -*-===//
//
//   DIR/lock                         held by the run that writes here
//   DIR/step-00000040/rank-0000.safetensors, ...
//   DIR/step-00000040/manifest.json  written last
//   DIR/best -> step-00000040        the one with the best evaluation
//   DIR/.writing-00000060/           not whole yet
//   DIR/.replaced-00000040/          where the system exchanges no two
//   DIR/.old-00000020/               is being removed
//
// A checkpoint is written beside, brought to the disk file by file, and gets
// its name by one rename; one that goes loses its name by one rename.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "CheckpointManifest.h"

namespace autopar::runtime {

/// A folder of checkpoints.
class CheckpointFolder {
public:
  explicit CheckpointFolder(std::string path) : path(std::move(path)) {}
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;
  ~CheckpointFolder();

  /// Creates the folder, locks it against other runs, and removes incomplete
  /// files of a killed run.
  Status lock();

  /// Returns the path of a rank's file of a step, and creates its folder.
  Status fileOfRank(int64_t step, int rank, std::string &file) const;
  /// Makes the checkpoint of a step from all ranks' files, which must exist. Of
  /// older checkpoints all but `keep` and the best are removed; while newer
  /// ones have states that are not finite, so is not the newest that has none.
  Status finish(int64_t step, int ranks, CheckpointManifest manifest,
                int64_t keep) const;
  /// Removes the files that were written for a step.
  void drop(int64_t step) const;

  /// Returns the steps that have a checkpoint, newest first.
  std::vector<int64_t> steps() const;
  /// Returns the newest step before this one whose checkpoint has only states
  /// that are finite, or -1 if there is none.
  int64_t finiteBefore(int64_t step) const;
  /// Returns the folder of a step's checkpoint.
  std::string folderOf(int64_t step) const;
  const std::string &where() const { return path; }

private:
  std::string writingOf(int64_t step) const;
  Status takePlace(int64_t step) const;
  void remove(int64_t step) const;
  bool isFinite(int64_t step) const;
  void removeOld(int64_t newest, int64_t keep, int64_t best,
                 bool keepsFinite) const;
  void linkBest(int64_t step) const;

  std::string path;
  int descriptor = -1; // of the lock
};

std::string rankFile(int rank);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
