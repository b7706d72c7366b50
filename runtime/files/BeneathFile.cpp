//===- BeneathFile.cpp - Files that a model names -------------------------===//

#include "BeneathFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace autopar::runtime {

static Status refuse(const std::string &message) {
  errno = 0;
  return Status::error(message);
}

static std::vector<std::string> partsOf(const std::string &path) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= path.size();) {
    size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at)
      parts.push_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return parts;
}

Status checkBeneathPath(const std::string &file) {
  if (file.empty())
    return refuse("external data: no location is given");
  if (file.find('\0') != std::string::npos || file[0] == '/')
    return refuse("external data: location '" + file +
                  "' must be relative to the model's folder");
  for (const std::string &part : partsOf(file))
    if (part == "..")
      return refuse("external data: location '" + file +
                    "' leaves the model's folder");
  return Status::success();
}

/// Opens part by part and follows no link: for kernels without openat2.
static int openByParts(int folder, const std::string &file, int flags) {
  int current = dup(folder);
  std::vector<std::string> parts = partsOf(file);
  for (size_t i = 0; i < parts.size() && current >= 0; ++i) {
    int way = i + 1 == parts.size()
                  ? flags | O_NOFOLLOW
                  : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = openat(current, parts[i].c_str(), way);
    int saved = errno;
    close(current);
    errno = saved;
    current = next;
  }
  return current;
}

static int openWithin(int folder, const std::string &file, bool follow) {
  int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  open_how how{};
  how.flags = uint64_t(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
                (follow ? 0 : RESOLVE_NO_SYMLINKS);
  long result = syscall(SYS_openat2, folder, file.c_str(), &how, sizeof(how));
  if (result < 0 && (errno == ENOSYS || errno == EPERM))
    return openByParts(folder, file, flags);
  return int(result);
}

/// What the failed system call means; errno stays.
static Status openError(const std::string &file, const BeneathLinks &links) {
  int code = errno;
  std::string text = "'" + file + "' cannot be opened: " + strerror(code);
  if (code == ELOOP)
    text = "'" + file + "' is or passes a symbolic link" + links.followHint;
  if (code == EXDEV)
    text = "'" + file + "' leads out of the model's folder";
  errno = code;
  return Status::error(text);
}

/// The file must be plain, and the only name of its bytes.
static Status checkFile(int descriptor, const std::string &file,
                        const BeneathLinks &links, uint64_t &bytes) {
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return openError(file, links);
  if (!S_ISREG(info.st_mode))
    return refuse("'" + file + "' is not a plain file");
  if (info.st_nlink > 1 && !links.follow)
    return refuse("'" + file + "' has hard links elsewhere" + links.acceptHint);
  bytes = uint64_t(info.st_size);
  return Status::success();
}

Status openBeneath(const std::string &folder, const std::string &file,
                   const BeneathLinks &links, int &descriptor,
                   uint64_t &bytes) {
  APRT_TRY(checkBeneathPath(file));
  std::string folderPath = folder.empty() ? "." : folder;
  int directory = open(folderPath.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return openError(folderPath, links);
  descriptor = openWithin(directory, file, links.follow);
  int code = errno;
  close(directory);
  errno = code;
  if (descriptor < 0)
    return openError(file, links);
  Status status = checkFile(descriptor, file, links, bytes);
  if (status.ok())
    return status;
  code = errno;
  close(descriptor);
  errno = code;
  descriptor = -1;
  return status;
}

} // namespace autopar::runtime
