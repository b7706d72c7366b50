//===- FileStamp.cpp - Whether a file changed while it was read -----------===//

#include "FileStamp.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/stat.h>

namespace autopar::runtime {

/// A tick is at most 10 ms; a file that is written all the time is read anyway,
/// and found changed.
static constexpr int kMostWaits = 50; // of a millisecond

static double seconds(const timespec &time) {
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Whether another change now would get the time of the last one: files' times
/// are those of the system's coarse clock. One far ahead is another host's.
static bool isOfThisTick(const struct stat &info) {
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  double last = std::max(seconds(info.st_mtim), seconds(info.st_ctim));
  double age = seconds(now) - last;
  return age <= 0 && age > -1;
}

static std::array<int64_t, 7> factsOf(const struct stat &info) {
  return {int64_t(info.st_dev),          int64_t(info.st_ino),
          int64_t(info.st_size),         int64_t(info.st_mtim.tv_sec),
          int64_t(info.st_mtim.tv_nsec), int64_t(info.st_ctim.tv_sec),
          int64_t(info.st_ctim.tv_nsec)};
}

Status FileStamp::take(int descriptor, const std::string &path,
                       FileStamp &stamp) {
  struct stat info = {};
  bool known = fstat(descriptor, &info) == 0;
  for (int tries = 0; known && tries < kMostWaits && isOfThisTick(info);
       ++tries) {
    timespec pause = {0, 1000000};
    nanosleep(&pause, nullptr);
    known = fstat(descriptor, &info) == 0;
  }
  if (!known)
    return Status::error("cannot examine '" + path +
                         "': " + std::strerror(errno));
  stamp.path = path;
  stamp.facts = factsOf(info);
  return Status::success();
}

void FileStamp::addTo(ContentHash &hash) const {
  hash.add(facts.data(), sizeof(facts));
}

Status FileStamp::check() const {
  struct stat info = {};
  bool isThere = path.empty() || stat(path.c_str(), &info) == 0;
  if (path.empty() || (isThere && factsOf(info) == facts))
    return Status::success();
  bool isOther = isThere && factsOf(info)[1] != facts[1];
  return Status::error("'" + path + "' " +
                       (!isThere  ? "was removed"
                        : isOther ? "was replaced by another file"
                                  : "was changed") +
                       " while it was read, so that what was read may be of "
                       "two files: run again once nothing writes it");
}

} // namespace autopar::runtime
