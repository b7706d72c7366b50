//===- DiskFile.cpp - Large files, past the cache -------------------------===//

#include "DiskFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace autopar::runtime {

static constexpr int64_t sectorBytes = 4096;

DiskFile::~DiskFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Status DiskFile::fail(const std::string &where) const {
  return Status::error("cannot write '" + path + "'" + where + ": " +
                       std::strerror(errno));
}

bool DiskFile::setDirect(bool isDirect) {
  int flags = fcntl(descriptor, F_GETFL);
  flags = isDirect ? flags | O_DIRECT : flags & ~O_DIRECT;
  bool isSet = fcntl(descriptor, F_SETFL, flags) == 0;
  direct = isSet ? isDirect : direct;
  return isSet;
}

Status DiskFile::open(const std::string &name, int64_t bytes) {
  path = name;
  descriptor =
      ::open(path.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0)
    return fail("");
  (void)setDirect(true);
  bool hasRoom = bytes == 0 || fallocate(descriptor, 0, 0, bytes) == 0;
  return hasRoom || errno != ENOSPC ? Status::success() : fail("");
}

Status DiskFile::write(const char *data, int64_t offset, int64_t bytes,
                       const std::function<std::string(int64_t)> &nameAt) {
  while (bytes > 0) {
    // A file's last bytes are no whole sector.
    int64_t count = std::min<int64_t>(bytes, 1 << 30);
    if (direct && count >= sectorBytes)
      count -= count % sectorBytes;
    else if (direct && !setDirect(false))
      return fail(nameAt(offset));
    ssize_t put = pwrite(descriptor, data, size_t(count), offset);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0 && errno == EINVAL && direct && setDirect(false))
      continue;
    if (put < 0)
      return fail(nameAt(offset));
    data += put;
    offset += put;
    bytes -= put;
  }
  return Status::success();
}

Status DiskFile::finish() {
  if (fsync(descriptor) != 0)
    return fail("");
  int closed = close(descriptor);
  descriptor = -1;
  return closed == 0 ? Status::success() : fail("");
}

} // namespace autopar::runtime
