//===- FileReader.h - Reading files in part ---------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_FILEREADER_H
#define AUTOPAR_RUNTIME_FILES_FILEREADER_H

#include "../core/Status.h"
#include "ContentHash.h"
#include "FileStamp.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autopar::runtime {

/// A file opened for reading at any offset. Short reads that are close together
/// share one system call.
class FileReader {
public:
  FileReader() = default;
  FileReader(FileReader &&other) noexcept;
  FileReader &operator=(FileReader &&other) noexcept;
  ~FileReader();

  Status open(const std::string &path);
  /// Takes over an open plain file of that size.
  void adopt(int opened, int64_t bytes, const std::string &path);
  /// From now on the file is these bytes of it.
  Status narrow(int64_t offset, int64_t bytes);
  /// Reads exactly `bytes` at `offset`; a file too short is a failure.
  Status read(int64_t offset, int64_t bytes, void *to);
  /// The same with system calls of its own; the bytes are there.
  Status readDirect(int64_t offset, int64_t bytes, void *to) const;
  /// Gives up what was read ahead, of a file that stays open for long.
  void dropWindow() { std::vector<char>().swap(window); }
  /// Adds bytes that are there.
  Status hash(int64_t offset, int64_t bytes, ContentHash &hash) const;

  /// To be taken before the first read.
  Status stamp(FileStamp &stamp) const {
    return FileStamp::take(descriptor, filePath, stamp);
  }

  int64_t size() const { return fileSize; }
  const std::string &path() const { return filePath; }

private:
  int descriptor = -1;
  int64_t fileSize = 0;
  int64_t origin = 0;
  std::string filePath;
  std::vector<char> window;
  int64_t windowOffset = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_FILEREADER_H
