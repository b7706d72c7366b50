//===- DiskFile.h - Large files, past the cache -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_DISKFILE_H
#define AUTOPAR_RUNTIME_FILES_DISKFILE_H

#include "../core/Status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace autopar::runtime {

/// A new file whose bytes go from memory to the disk, without a copy in the
/// system's cache where the file system can do that and memory and place are
/// multiples of 4096.
class DiskFile {
public:
  DiskFile() = default;
  DiskFile(const DiskFile &) = delete;
  DiskFile &operator=(const DiskFile &) = delete;
  ~DiskFile();

  /// Replaces the file of this name, and takes room for `bytes`, so that a full
  /// disk is known at once.
  Status open(const std::string &path, int64_t bytes);
  /// `nameAt` says in a message what is at the byte that was not written.
  Status write(const char *data, int64_t offset, int64_t bytes,
               const std::function<std::string(int64_t)> &nameAt);
  /// All is on the disk; the name is once its folder is synchronized.
  Status finish();

private:
  Status fail(const std::string &where) const;
  bool setDirect(bool isDirect);

  int descriptor = -1;
  bool direct = false;
  std::string path;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_DISKFILE_H
