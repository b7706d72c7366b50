//===- CheckpointFile.h - One rank's states in a file -----------*- C++ -*-===//
//
// A safetensors file: a tensor per block, by the state's key; the header's
// `__metadata__` has by the same key `{"shape": [6, 4], "start": [3, 0],
// "hash": "..."}`: the whole state's shape, where the block begins in it, and
// the hash of the block's bytes; with a `view` it begins so in the state of
// that shape.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFILE_H
#define AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFILE_H

#include "../files/FileReader.h"
#include "StateBlock.h"

namespace autopar::runtime {

/// A block with its elements.
struct BlockBytes {
  StateBlock block;
  const void *data = nullptr;
};

/// Writes the blocks to the file, and to the disk.
Status writeCheckpointFile(const std::string &path,
                           const std::vector<BlockBytes> &blocks);

/// A block in a file.
struct StoredBlock {
  StateBlock block;
  int64_t offset = 0; // of its bytes in the file
  uint64_t hash = 0;
};

/// The blocks of an open file, whose header is checked: types that are known,
/// boxes within their states.
Status readCheckpointFile(FileReader &file, std::vector<StoredBlock> &blocks);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CHECKPOINT_CHECKPOINTFILE_H
