//===- Checkpoint.h - The states that a run goes on with --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "../core/ArrayBytes.h"
#include "CheckpointFile.h"
#include "CheckpointFolder.h"

#include <map>
#include <set>

namespace autopar::runtime {

/// The blocks of a state that a part of it needs, in memory.
class LoadedState {
public:
  /// Copies a part, which is dense. Padding beyond the state's end becomes
  /// zero.
  void copy(const std::vector<Interval> &part, char *to) const;

private:
  friend class Checkpoint;
  struct Loaded {
    StateBlock block;
    ArrayBytes data;
  };
  std::vector<Loaded> blocks;
  int64_t elementBytes = 0;
};

/// An opened checkpoint. Any number of ranks with any plan can read their parts
/// of its states.
class Checkpoint {
public:
  /// Reads the manifest and all headers, and checks that the blocks cover each
  /// state. With `readsAll` it also compares all bytes with their hashes.
  Status open(const std::string &folder, bool readsAll);

  int64_t step() const { return manifest.step; }
  const std::string &path() const { return folder; }
  const CheckpointManifest &about() const { return manifest; }
  /// Returns the states by their keys. Each is the box that covers all of it.
  const std::map<std::string, StateBlock> &states() const { return wholes; }
  size_t blocksOf(const std::string &key) const { return places.count(key); }

  /// Excludes the state of this key, or, if it ends with a `/`, all states of
  /// that role. They begin as they do without a checkpoint.
  void leaveOut(const std::string &key) { leftOut.insert(key); }
  bool isLeftOut(const std::string &key) const {
    return leftOut.count(key) > 0 ||
           leftOut.count(key.substr(0, key.find('/') + 1)) > 0;
  }
  bool has(const std::string &key) const {
    return wholes.count(key) > 0 && !isLeftOut(key);
  }

  /// Reads the blocks that a part of an existing state needs, and compares the
  /// bytes with their hashes.
  Status read(const std::string &key, const std::vector<Interval> &part,
              LoadedState &loaded) const;
  /// Reads a dense part of an existing state to its destination. Padding beyond
  /// the state's end becomes zero. If checkFiles() succeeds after the last
  /// read, the bytes are those that open() has compared.
  Status copy(const std::string &key, const std::vector<Interval> &part,
              char *to) const;
  Status checkFiles() const;

private:
  struct BlockInFile {
    size_t file = 0;
    StoredBlock stored;
  };
  Status openFile(const CheckpointManifest::File &file);
  Status addBlock(const StoredBlock &stored);
  Status checkWhole() const;
  Status readBlock(const BlockInFile &place, char *to) const;
  Status checkBytes() const;
  Status otherBytes(const BlockInFile &place) const;

  std::string folder;
  CheckpointManifest manifest;
  std::vector<FileReader> files;
  std::vector<FileStamp> stamps;            // by file
  std::map<std::string, StateBlock> wholes; // by key; each the whole state
  std::multimap<std::string, BlockInFile> places; // by key
  std::set<std::string> leftOut;
};

/// Opens the checkpoint at `path`, or the newest complete one if it is a folder
/// of checkpoints. `doubts` explains why newer ones are not complete.
Status openCheckpoint(const std::string &path, bool readsAll,
                      Checkpoint &checkpoint, std::vector<std::string> &doubts);
/// Says which states of the checkpoint are not finite, and which one before it
/// has only finite states; "" if all states are finite.
std::string doubtOfNumbers(const Checkpoint &checkpoint);
/// Returns whether the path is a checkpoint, or a folder with one, complete or
/// not.
bool hasCheckpoint(const std::string &path);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINT_H
