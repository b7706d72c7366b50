//===- FileIdentity.h - Whether a file is the one that was ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_FILEIDENTITY_H
#define AUTOPAR_RUNTIME_FILES_FILEIDENTITY_H

#include "FileReader.h"

#include <vector>

namespace autopar::runtime {

/// Bytes [begin, end) of a file.
struct ByteRange {
  int64_t begin = 0, end = 0;
};

/// The hash of a file without the bytes of `data`, ranges in any order that may
/// overlap: of a model file its graph, names and shapes, quick to read however
/// large the weights are.
Status hashOutside(const FileReader &file, std::vector<ByteRange> data,
                   uint64_t &hash);

/// The hash of all bytes.
Status hashAll(const FileReader &file, uint64_t &hash);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_FILEIDENTITY_H
