//===- ExternalData.cpp - Weights in files beside the model ---------------===//
//
// A model file comes from outside: the places it names are hostile until
// checked.
//
//===----------------------------------------------------------------------===//

#include "ExternalData.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace autopar {

static Error error(const Twine &message,
                   std::errc code = std::errc::invalid_argument) {
  return createStringError(std::make_error_code(code), message);
}

static Expected<uint64_t> parseCount(StringRef key, StringRef text) {
  uint64_t value;
  if (text.empty() || !all_of(text, isDigit) || text.getAsInteger(10, value) ||
      value > uint64_t(INT64_MAX))
    return error("external data: " + key + " '" + text +
                 "' is not a number of bytes");
  return value;
}

static Error checkPath(StringRef file) {
  if (file.empty())
    return error("external data: no location is given");
  if (file.contains('\0') || file.starts_with("/"))
    return error("external data: location '" + file +
                 "' must be relative to the model's folder");
  SmallVector<StringRef> parts;
  file.split(parts, '/');
  if (is_contained(parts, ".."))
    return error("external data: location '" + file +
                 "' leaves the model's folder");
  return Error::success();
}

Expected<ExternalPlace> parseExternalPlace(const onnx::TensorProto &tensor) {
  ExternalPlace place;
  SmallVector<StringRef> seen;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key = entry.key();
    if (is_contained(seen, key))
      return error("external data: key '" + key + "' is there twice");
    seen.push_back(key);
    if (key == "location") {
      place.file = entry.value();
      continue;
    }
    if (key == "checksum" || key == "basepath")
      continue;
    if (key != "offset" && key != "length")
      return error("external data: unknown key '" + key +
                   "' (known: location, offset, length, checksum)");
    Expected<uint64_t> count = parseCount(key, entry.value());
    if (!count)
      return count.takeError();
    if (key == "offset")
      place.offset = *count;
    else
      place.length = *count;
  }
  if (Error failed = checkPath(place.file))
    return std::move(failed);
  return place;
}

/// Opens part by part and follows no link: for kernels without openat2.
static int openByParts(int folder, StringRef file, int flags) {
  int current = dup(folder);
  SmallVector<StringRef> parts;
  file.split(parts, '/', -1, /*KeepEmpty=*/false);
  for (auto [index, part] : enumerate(parts)) {
    if (current < 0)
      return current;
    bool last = index + 1 == parts.size();
    int next = openat(current, part.str().c_str(),
                      last ? flags | O_NOFOLLOW
                           : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int saved = errno;
    close(current);
    errno = saved;
    current = next;
  }
  return current;
}

static int openBeneath(int folder, StringRef file, bool allowLinks) {
  int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
                (allowLinks ? 0 : RESOLVE_NO_SYMLINKS);
  int result =
      syscall(SYS_openat2, folder, file.str().c_str(), &how, sizeof(how));
  if (result < 0 && (errno == ENOSYS || errno == EPERM))
    return openByParts(folder, file, flags);
  return result;
}

static Error openError(StringRef file) {
  if (errno == ELOOP)
    return error(
        "'" + file +
        "' is or passes a symbolic link; "
        "--allow-linked-weights follows links inside the model's folder");
  if (errno == EXDEV)
    return error("'" + file + "' leads out of the model's folder");
  return error("'" + file + "' cannot be opened: " + strerror(errno),
               std::errc(errno));
}

/// The file must be plain, unlinked, and hold [offset, offset + length).
static Error checkFile(int fd, StringRef file, uint64_t offset, uint64_t length,
                       bool allowLinks) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return openError(file);
  if (!S_ISREG(info.st_mode))
    return error("'" + file + "' is not a plain file");
  if (info.st_nlink > 1 && !allowLinks)
    return error("'" + file +
                 "' has hard links elsewhere; "
                 "--allow-linked-weights accepts them");
  uint64_t size = info.st_size;
  if (offset > size || length > size - offset)
    return error("'" + file + "' has " + Twine(size) + " bytes, but bytes " +
                 Twine(offset) + " to " + Twine(offset + length) +
                 " are asked for");
  return Error::success();
}

Expected<std::vector<char>> readBeneath(StringRef folder, StringRef file,
                                        uint64_t offset, uint64_t length,
                                        bool allowLinks) {
  std::string folderPath = folder.empty() ? "." : folder.str();
  int directory = open(folderPath.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return openError(folderPath);
  scope_exit closeDirectory([&] { close(directory); });
  int fd = openBeneath(directory, file, allowLinks);
  if (fd < 0)
    return openError(file);
  scope_exit closeFile([&] { close(fd); });
  if (Error failed = checkFile(fd, file, offset, length, allowLinks))
    return std::move(failed);

  std::vector<char> bytes(length);
  for (uint64_t done = 0; done < length;) {
    ssize_t count =
        pread(fd, bytes.data() + done, length - done, offset + done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return error("'" + file + "' cannot be read to the end of the data");
    done += count;
  }
  return bytes;
}

} // namespace autopar
