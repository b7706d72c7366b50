//===- Shards.h - Arrays whose rows are in several files --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_DATA_SHARDS_H
#define AUTOPAR_RUNTIME_DATA_SHARDS_H

#include "../core/DataType.h"
#include "../files/FileReader.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace autopar::runtime {

/// Data that need not fit in memory: a folder, the files of a pattern, or one
/// file. Each file has some rows of every array. A shard is a .npz file that is
/// not deflated or a safetensors file, with an array per input, or a .npy file
/// of one array, `NAME.npy` or `NAME-DIGITS.npy`. Shards are ordered by their
/// names. Files stay open; several threads may read at once.
class Shards {
public:
  /// An array. All its rows have the same type and shape.
  struct Column {
    struct Piece {
      size_t file = 0;
      int64_t offset = 0; // of its bytes in the file
      int64_t rows = 0;
      std::string number; // `0003` of a file `x-0003.npy`
    };
    std::string name;
    aprt_dtype dtype = APRT_F32;
    std::vector<int64_t> rowShape;
    int64_t rowBytes = 0;
    std::vector<Piece> pieces; // one in each shard
  };

  /// Returns whether an argument names a folder or has a wildcard, so that it
  /// is not a file.
  static bool isNamedBy(const std::string &argument);

  /// Opens all files and reads their headers.
  Status open(const std::string &argument);

  /// Returns the paths of the files.
  std::vector<std::string> paths() const;
  /// Returns the argument that was opened.
  const std::string &where() const { return argument; }
  int64_t rows() const { return ends.empty() ? 0 : ends.back(); }
  const std::vector<Column> &columns() const { return all; }
  /// Returns the array of that name, or null if there is none.
  const Column *find(const std::string &name) const;
  /// Returns a hash that distinguishes data by the arrays' names, types and
  /// shapes, and the files' names, lengths and rows, but not by contents.
  uint64_t hash() const;

  /// Reads consecutive rows.
  Status read(const Column &column, int64_t row, int64_t count, char *to) const;
  /// Returns a place for messages, such as `row 3 of 'part-0.npz'`.
  std::string placeOf(const Column &column, int64_t row) const;

private:
  struct StoredArray {
    std::string name;
    aprt_dtype dtype = APRT_F32;
    std::vector<int64_t> shape;
    int64_t offset = 0;
    std::string number;
  };
  Status findFiles(std::vector<std::string> &paths) const;
  Status openFile(const std::string &path);
  Status readArrays(FileReader &file, std::vector<StoredArray> &arrays) const;
  Status checkNames(const std::vector<StoredArray> &arrays);
  Status addArray(const StoredArray &array);
  Status checkPieces() const;
  /// Returns the piece that has a row, and the row within it.
  const Column::Piece &pieceOf(const Column &column, int64_t row,
                               int64_t &within) const;

  std::string argument;
  std::vector<FileReader> files;
  std::string firstFile; // of those of several arrays
  std::set<std::string> namesOfFirst;
  std::vector<Column> all;   // by name
  std::vector<int64_t> ends; // rows of the shards up to each one
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_SHARDS_H
