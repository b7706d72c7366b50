//===- CheckpointManifest.h - What a checkpoint is of -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTMANIFEST_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTMANIFEST_H

#include "../core/ProgramHashes.h"
#include "../core/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// The position of a training in the rows of shards: the row of the epoch's
/// order with which the next step begins.
struct DataPlace {
  int64_t epoch = 0, row = 0;
  int64_t rows = 0;             // of an epoch
  std::optional<uint64_t> seed; // of the order
  uint64_t shards = 0;          // which they were: Shards::hash()
};

/// The best evaluation of a training.
struct BestPlace {
  std::string metric;
  int64_t step = 0; // steps that were taken then
  double value = 0;
  int64_t worse = 0;   // evaluations since then
  uint64_t shards = 0; // Shards::hash() of its rows; 0: not known
};

/// The position of a training in addition to its states.
struct TrainingPlace {
  std::optional<DataPlace> data; // none: its data are arrays of all steps
  std::optional<BestPlace> best; // none: nothing was evaluated
  std::string iterable; // how a Trainer's iterable tells its place; empty: none
};

/// The manifest describes the contents of a checkpoint. Newer formats are
/// rejected; older ones are read.
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
  ProgramHashes hashes; // of the program that wrote it
  std::vector<std::string> notFinite =
      {}; // keys of states with NaN or infinity
};

/// Returns whether the folder is one checkpoint.
bool isCheckpoint(const std::string &folder);

/// Reads the manifest of a checkpoint. All its files must exist with their
/// original lengths.
Status readManifest(const std::string &folder, CheckpointManifest &manifest);

/// Says which states of the checkpoint have NaN or infinity, as in "not all
/// numbers are finite of 'model/a'"; "" if none has.
std::string notFiniteText(const CheckpointManifest &manifest);

/// Writes the manifest of the files `names` of the folder to disk, and adds to
/// `manifest` what it says of the files. All of them must exist.
Status writeManifest(const std::string &folder,
                     const std::vector<std::string> &names,
                     CheckpointManifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTMANIFEST_H
