//===- FileReader.cpp - Reading files in part -----------------------------===//

#include "FileReader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

static Status systemError(const std::string &what, const std::string &path) {
  return Status::error("cannot " + what + " '" + path +
                       "': " + std::strerror(errno));
}

FileReader::FileReader(FileReader &&other) noexcept {
  *this = std::move(other);
}

FileReader &FileReader::operator=(FileReader &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  std::swap(fileSize, other.fileSize);
  std::swap(filePath, other.filePath);
  std::swap(window, other.window);
  std::swap(windowOffset, other.windowOffset);
  std::swap(origin, other.origin);
  return *this;
}

FileReader::~FileReader() {
  if (descriptor >= 0)
    close(descriptor);
}

Status FileReader::open(const std::string &path) {
  filePath = path;
  // A pipe is refused, and not waited for.
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError("open", path);
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return systemError("examine", path);
  if (!S_ISREG(info.st_mode))
    return Status::error("'" + path + "' is not a regular file");
  fileSize = info.st_size;
  return Status::success();
}

void FileReader::adopt(int opened, int64_t bytes, const std::string &path) {
  descriptor = opened;
  fileSize = bytes;
  filePath = path;
}

Status FileReader::narrow(int64_t offset, int64_t bytes) {
  if (offset < 0 || bytes < 0 || offset > fileSize || bytes > fileSize - offset)
    return Status::error("'" + filePath + "' is cut off: it has " +
                         std::to_string(fileSize) + " bytes, not " +
                         std::to_string(offset + bytes));
  origin += offset;
  fileSize = bytes;
  window.clear();
  return Status::success();
}

Status FileReader::readDirect(int64_t offset, int64_t bytes, void *to) const {
  char *at = static_cast<char *>(to);
  while (bytes > 0) {
    ssize_t got =
        pread(descriptor, at, size_t(std::min<int64_t>(bytes, 1 << 30)),
              origin + offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError("read", filePath);
    if (got == 0)
      return Status::error("'" + filePath + "' ended while it was read");
    at += got;
    offset += got;
    bytes -= got;
  }
  return Status::success();
}

Status FileReader::read(int64_t offset, int64_t bytes, void *to) {
  constexpr int64_t windowBytes = 256 << 10;
  if (offset < 0 || bytes < 0 || offset > fileSize || bytes > fileSize - offset)
    return Status::error("'" + filePath + "' has " + std::to_string(fileSize) +
                         " bytes, but bytes " + std::to_string(offset) +
                         " to " + std::to_string(offset + bytes) +
                         " are needed");
  if (bytes >= windowBytes / 4)
    return readDirect(offset, bytes, to);
  bool inWindow = offset >= windowOffset &&
                  offset + bytes <= windowOffset + int64_t(window.size());
  if (!inWindow) {
    window.resize(size_t(std::min(windowBytes, fileSize - offset)));
    windowOffset = offset;
    APRT_TRY(readDirect(offset, int64_t(window.size()), window.data()));
  }
  if (bytes > 0)
    std::memcpy(to, window.data() + (offset - windowOffset), size_t(bytes));
  return Status::success();
}

Status FileReader::hash(int64_t offset, int64_t bytes,
                        ContentHash &hash) const {
  std::vector<char> chunk(size_t(std::min<int64_t>(bytes, 1 << 20)));
  for (int64_t done = 0; done < bytes;) {
    int64_t count = std::min(bytes - done, int64_t(chunk.size()));
    APRT_TRY(readDirect(offset + done, count, chunk.data()));
    hash.add(chunk.data(), size_t(count));
    done += count;
  }
  return Status::success();
}

} // namespace autopar::runtime
