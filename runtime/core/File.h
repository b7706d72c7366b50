//===- File.h - Reading files in part, writing them whole -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_FILE_H
#define AUTOPAR_RUNTIME_CORE_FILE_H

#include "Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autopar::runtime {

/// A file opened for reading at any offset. Short reads that lie close together
/// share one system call.
class FileReader {
public:
  FileReader() = default;
  FileReader(FileReader &&other) noexcept;
  FileReader &operator=(FileReader &&other) noexcept;
  ~FileReader();

  Status open(const std::string &path);
  /// Reads exactly `bytes` at `offset`; a file too short is a failure.
  Status read(int64_t offset, int64_t bytes, void *to);

  int64_t size() const { return fileSize; }
  const std::string &path() const { return filePath; }

private:
  Status readDirect(int64_t offset, int64_t bytes, void *to) const;

  int descriptor = -1;
  int64_t fileSize = 0;
  std::string filePath;
  std::vector<char> window;
  int64_t windowOffset = 0;
};

/// A file that appears under its name only when it is complete.
class FileWriter {
public:
  FileWriter() = default;
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  ~FileWriter();

  Status open(const std::string &path);
  Status write(const void *data, int64_t bytes);
  /// Moves the finished file into place.
  Status commit();

  int64_t position() const { return written; }

private:
  int descriptor = -1;
  int64_t written = 0;
  std::string filePath;
  std::string temporaryPath;
};

/// Writes `text` as the whole of file `path`.
Status writeTextFile(const std::string &path, const std::string &text);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_FILE_H
