//===- FileStamp.h - Whether a file changed while it was read ---*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_FILESTAMP_H
#define AUTOPAR_RUNTIME_FILES_FILESTAMP_H

#include "../core/Status.h"
#include "ContentHash.h"

#include <array>
#include <cstdint>
#include <string>

namespace autopar::runtime {

/// What the system says of a file as it is opened: device, inode, size, and
/// the times of its last changes. Taken before the first read and compared
/// after the last one, it tells that the bytes between are those of one file.
class FileStamp {
public:
  FileStamp() = default;
  /// Of an open file, that was opened at `path`. If it changed a moment ago it
  /// waits until the system's clock would give another change a later time.
  static Status take(int descriptor, const std::string &path, FileStamp &stamp);

  /// Fails, naming the file, where `path` is another file now, or was changed.
  Status check() const;

  const std::string &file() const { return path; }
  /// Adds what the system said of the file.
  void addTo(ContentHash &hash) const;

private:
  std::string path;
  std::array<int64_t, 7> facts{};
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_FILESTAMP_H
