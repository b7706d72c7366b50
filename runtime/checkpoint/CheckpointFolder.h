//===- CheckpointFolder.h - The checkpoints of a run ------------*- C++ -*-===//
//
//   DIR/lock                         held by the run that writes here
//   DIR/step-00000040/rank-0000.safetensors, ...
//   DIR/step-00000040/manifest.json  written last
//   DIR/best -> step-00000040        the one with the best evaluation
//   DIR/.writing-00000060/           not whole yet
//   DIR/.replaced-00000040/          for a moment, where none exchanges two
//   DIR/.old-00000020/               is being removed
//
// A checkpoint is written beside, brought to the disk file by file, and gets
// its name by one rename; one that goes loses its name by one rename.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "../core/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// The place of a training in rows of shards: the row of the epoch's order with
/// which the next step begins.
struct DataPlace {
  int64_t epoch = 0, row = 0;
  int64_t rows = 0;             // of an epoch
  std::optional<uint64_t> seed; // of the order
  uint64_t shards = 0;          // which they were: Shards::hash()
};

/// The best of a training's evaluations.
struct BestPlace {
  std::string metric;
  int64_t step = 0; // steps that were taken then
  double value = 0;
  int64_t worse = 0; // evaluations since then
};

/// The place of a training, beside its states.
struct TrainingPlace {
  std::optional<DataPlace> data; // none: its data are arrays of all steps
  std::optional<BestPlace> best; // none: nothing was evaluated
};

/// The manifest tells what a checkpoint is of. Newer formats are refused, older
/// ones are read.
struct CheckpointManifest {
  static constexpr int64_t newestFormat = 1;
  struct File {
    std::string name;
    int64_t bytes = 0;
    uint64_t header = 0; // hash of its header, which has those of its blocks
  };
  int64_t step = 0; // steps that were taken
  std::string model, compiler;
  std::string mesh; // of the run that wrote it: for information
  std::vector<File> files;
  TrainingPlace place;
};

/// A folder of checkpoints.
class CheckpointFolder {
public:
  explicit CheckpointFolder(std::string path) : path(std::move(path)) {}
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;
  ~CheckpointFolder();

  /// Makes the folder, keeps other runs from writing there and removes what one
  /// that was killed has left half written.
  Status lock();

  /// The file that a rank writes of a step; its folder is made.
  Status fileOfRank(int64_t step, int rank, std::string &file) const;
  /// All ranks' files are there: they become the checkpoint of the step, and of
  /// older ones all but `keep` and the best go.
  Status finish(int64_t step, int ranks, CheckpointManifest manifest,
                int64_t keep) const;
  /// Gives up what was written of a step.
  void drop(int64_t step) const;

  /// Steps of which there is a checkpoint, the newest one first.
  std::vector<int64_t> steps() const;
  /// The folder of a step's checkpoint.
  std::string folderOf(int64_t step) const;
  const std::string &where() const { return path; }

private:
  std::string writingOf(int64_t step) const;
  void removeOld(int64_t newest, int64_t keep, int64_t best) const;
  void linkBest(int64_t step) const;
  Status takePlace(int64_t step) const;
  void remove(int64_t step) const;

  std::string path;
  int descriptor = -1; // of the lock
};

std::string rankFile(int rank);

/// True if the folder is one checkpoint.
bool isCheckpoint(const std::string &folder);

/// Reads the manifest of a checkpoint, whose files must all be there, as long
/// as they were.
Status readManifest(const std::string &folder, CheckpointManifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
