//===- OutputFile.cpp - Where results are written -------------------------===//

#include "OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

static Status writeError(const std::string &path) {
  std::string name = path == "-" ? "standard output" : "'" + path + "'";
  return Status::error("cannot write " + name + ": " + std::strerror(errno));
}

/// The number of /dev/fd/N, /proc/self/fd/N and the names of the first three;
/// -1 for other paths.
static int ownDescriptor(const std::string &path) {
  if (path == "-" || path == "/dev/stdout")
    return 1;
  if (path == "/dev/stderr")
    return 2;
  for (const char *folder : {"/dev/fd/", "/proc/self/fd/"}) {
    std::string digits = path.substr(0, std::strlen(folder)) == folder
                             ? path.substr(std::strlen(folder))
                             : "";
    if (!digits.empty() && digits.size() < 7 &&
        digits.find_first_not_of("0123456789") == std::string::npos)
      return static_cast<int>(std::strtol(digits.c_str(), nullptr, 10));
  }
  return -1;
}

/// The text of a link, relative to the folder that holds it.
static bool followLink(std::string &path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path.c_str(), target, sizeof(target));
  if (length < 0)
    return false;
  std::string text(target, size_t(length));
  size_t slash = path.rfind('/');
  bool relative = text.empty() || text[0] != '/';
  path = relative && slash != std::string::npos
             ? path.substr(0, slash + 1) + text
             : text;
  return true;
}

Status findOutput(const std::string &given, OutputPlace &place) {
  place = OutputPlace();
  place.path = given;
  struct stat info;
  for (int links = 0;; ++links) {
    place.descriptor = ownDescriptor(place.path);
    if (place.descriptor >= 0) {
      place.kind = OutputPlace::Descriptor;
      return Status::success();
    }
    if (lstat(place.path.c_str(), &info) != 0)
      return errno == ENOENT ? Status::success() : writeError(given);
    if (!S_ISLNK(info.st_mode))
      break;
    errno = ELOOP;
    if (links == 40 || !followLink(place.path))
      return writeError(given);
  }
  if (S_ISDIR(info.st_mode))
    return Status::error("cannot write '" + given +
                         "': it is a folder; name a file in it");
  place.kind =
      S_ISREG(info.st_mode) ? OutputPlace::Regular : OutputPlace::Device;
  return Status::success();
}

bool goesToStdout(const std::string &path) {
  OutputPlace place;
  return !path.empty() && findOutput(path, place).ok() && place.isStdout();
}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporaryPath.empty())
    unlink(temporaryPath.c_str());
}

/// A new file in the folder of the one to be written, as open as that one, or
/// as the process's mask allows.
Status OutputFile::openBeside(bool isProgram) {
  std::string base = place.path + ".tmp" + std::to_string(getpid());
  for (int number = 0; descriptor < 0; ++number) {
    temporaryPath = number ? base + "." + std::to_string(number) : base;
    descriptor = ::open(temporaryPath.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        isProgram ? 0777 : 0666);
    if (descriptor < 0 && (errno != EEXIST || number == 1000)) {
      temporaryPath.clear();
      return writeError(givenPath);
    }
  }
  struct stat old;
  if (stat(place.path.c_str(), &old) != 0)
    return Status::success();
  mode_t mode = old.st_mode & 0777;
  if (isProgram)
    mode |= (mode & 0444) >> 2;
  return fchmod(descriptor, mode) == 0 ? Status::success()
                                       : writeError(givenPath);
}

Status OutputFile::open(const std::string &path, bool isProgram) {
  givenPath = path;
  APRT_TRY(findOutput(path, place));
  if (place.kind == OutputPlace::Regular)
    return openBeside(isProgram);
  descriptor =
      place.kind == OutputPlace::Descriptor
          ? fcntl(place.descriptor, F_DUPFD_CLOEXEC, 3)
          : ::open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  return descriptor < 0 ? writeError(path) : Status::success();
}

/// A pipe that somebody made non-blocking is full.
static bool waitForRoom(int descriptor) {
  pollfd room = {descriptor, POLLOUT, 0};
  return poll(&room, 1, -1) > 0;
}

Status OutputFile::write(const void *data, int64_t bytes) {
  const char *at = static_cast<const char *>(data);
  written += bytes;
  while (bytes > 0) {
    ssize_t put =
        ::write(descriptor, at, size_t(std::min<int64_t>(bytes, 1 << 30)));
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0 && errno == EAGAIN && waitForRoom(descriptor))
      continue;
    if (put < 0)
      return writeError(givenPath);
    at += put;
    bytes -= put;
  }
  return Status::success();
}

Status OutputFile::commit(bool isDurable) {
  if (isDurable && fsync(descriptor) != 0)
    return writeError(givenPath);
  int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0)
    return writeError(givenPath);
  if (temporaryPath.empty())
    return Status::success();
  if (rename(temporaryPath.c_str(), place.path.c_str()) != 0)
    return writeError(givenPath);
  temporaryPath.clear();
  return Status::success();
}

Status writeWhole(const std::string &path, const std::string &text,
                  bool isDurable) {
  OutputFile file;
  APRT_TRY(file.open(path));
  APRT_TRY(file.write(text.data(), int64_t(text.size())));
  return file.commit(isDurable);
}

} // namespace autopar::runtime
