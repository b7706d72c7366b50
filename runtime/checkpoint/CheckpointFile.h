//===- CheckpointFile.h - One rank's states in a file -----------*- C++ -*-===//
//
// A safetensors file: a tensor per block, by the state's key; the header's
// `__metadata__` has by the same key `{"shape": [6, 4], "start": [3, 0],
// "hash": "...", "finite": 1}`: the whole state's shape, where the block begins
// in it, the hash of the block's bytes, and 0 if any of its numbers is NaN or
// positive infinity; with a `view` it begins so in the state of that shape.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFILE_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFILE_H

#include "../core/Memory.h"
#include "../files/FileReader.h"
#include "StateBlock.h"

namespace autopar::runtime {

/// The contents of a future file in memory. The caller copies the blocks to
/// their places in the file, so that they can be written to disk from there.
class FileImage {
public:
  /// Allocates memory for a file of these blocks without touching it.
  Status create(const std::vector<StateBlock> &blocks);
  /// Returns the place for the bytes of a block, by its number in create()'s
  /// list.
  char *of(size_t block) const { return data() + places[block]; }
  char *data() const { return static_cast<char *>(image.data()); }
  int64_t size() const { return bytes; }

  /// Computes the hashes, tests the numbers, and writes the file to disk. A
  /// failure names the file and the state.
  Status write(const std::string &path);

private:
  struct Part {
    StateBlock block;
    int64_t begin = 0, end = 0; // in the file
    ContentHash hash;
    bool isFinite = true;
  };
  std::string header() const;
  class Hasher;
  std::string nameAt(int64_t offset) const;

  std::vector<Part> parts;     // in the order of the file
  std::vector<int64_t> places; // where each block of create()'s begins
  Buffer image;
  int64_t headerBytes = 0, bytes = 0;
};

/// A block in a file.
struct StoredBlock {
  StateBlock block;
  int64_t offset = 0; // of its bytes in the file
  uint64_t hash = 0;
  bool isFinite = true; // also in files of an autopar that did not test it
};

/// Reads the blocks of an open file. It checks that the header has known types
/// and boxes within their states.
Status readCheckpointFile(FileReader &file, std::vector<StoredBlock> &blocks);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFILE_H
