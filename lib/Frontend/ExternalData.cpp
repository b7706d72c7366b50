//===- ExternalData.cpp - Weights in files beside the model ---------------===//

#include "ExternalData.h"
#include "files/BeneathFile.h"
#include "files/FileStamp.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cerrno>
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
  if (runtime::Status status = runtime::checkBeneathPath(place.file);
      status.failed())
    return error(status.message());
  return place;
}

Expected<std::vector<char>> readBeneath(StringRef folder, StringRef file,
                                        uint64_t offset, uint64_t length,
                                        bool allowLinks,
                                        runtime::FileStamp &stamp) {
  runtime::BeneathLinks links;
  links.follow = allowLinks;
  links.followHint = "; --allow-linked-weights follows links inside the "
                     "model's folder";
  links.acceptHint = "; --allow-linked-weights accepts them";
  int fd = -1;
  uint64_t size = 0;
  if (runtime::Status status =
          runtime::openBeneath(folder.str(), file.str(), links, fd, size);
      status.failed())
    return error(status.message(),
                 errno ? std::errc(errno) : std::errc::invalid_argument);
  scope_exit closeFile([&] { close(fd); });
  SmallString<128> path(folder);
  sys::path::append(path, file);
  if (stamp.file().empty())
    if (runtime::Status status =
            runtime::FileStamp::take(fd, path.str().str(), stamp);
        status.failed())
      return error(status.message());
  if (offset > size || length > size - offset)
    return error("'" + file + "' has " + Twine(size) + " bytes, but bytes " +
                 Twine(offset) + " to " + Twine(offset + length) +
                 " are asked for");

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
