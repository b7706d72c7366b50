//===- CheckpointFolder.cpp - The checkpoints of a run --------------------===//

#include "CheckpointFolder.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace autopar::runtime {

namespace fs = std::filesystem;

static constexpr char stepPrefix[] = "step-", writingPrefix[] = ".writing-",
                      replacedPrefix[] = ".replaced-", oldPrefix[] = ".old-";

static constexpr int lockTries = 60; // each of 50 ms

/// Pads a number with zeros, so that names sort as numbers do.
static std::string padded(int64_t number, size_t digits) {
  std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text
                              : text;
}

static Status systemError(const std::string &what, const std::string &path,
                          int code) {
  return Status::error("cannot " + what + " '" + path +
                       "': " + std::strerror(code));
}

std::string rankFile(int rank) {
  return "rank-" + padded(rank, 4) + ".safetensors";
}

std::string CheckpointFolder::folderOf(int64_t step) const {
  return path + "/" + stepPrefix + padded(step, 8);
}

std::string CheckpointFolder::writingOf(int64_t step) const {
  return path + "/" + writingPrefix + padded(step, 8);
}

CheckpointFolder::~CheckpointFolder() {
  if (descriptor >= 0)
    close(descriptor);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static bool beginsWith(const std::string &text, const char *prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

/// The names in the folder; an empty list if it cannot be read.
static std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code))
    names.push_back(at->path().filename().string());
  return names;
}

/// Cleans up after a run that was killed: a checkpoint that was being replaced
/// gets its name again unless the new one has it; what is half written or half
/// removed goes.
static void cleanUp(const std::string &path) {
  std::error_code ignored;
  for (const std::string &name : namesIn(path)) {
    std::string entry = path + "/" + name;
    std::string step = path + "/" + stepPrefix;
    bool isReplaced = beginsWith(name, replacedPrefix);
    if (isReplaced)
      step += name.substr(std::strlen(replacedPrefix));
    if (isReplaced && !fs::exists(step, ignored))
      fs::rename(entry, step, ignored);
    else if (isReplaced || beginsWith(name, writingPrefix) ||
             beginsWith(name, oldPrefix))
      fs::remove_all(entry, ignored);
  }
}

Status CheckpointFolder::lock() {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    return systemError("make the folder", path, code.value());
  std::string file = path + "/lock";
  descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemError("write", file, errno);
  // Ranks of a run whose launcher was killed end a little later.
  for (int tries = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++tries)
    if (errno == EWOULDBLOCK && tries < lockTries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    else
      return errno == EWOULDBLOCK
                 ? Status::error("another run writes checkpoints into '" +
                                 path + "'; give each run a folder of its own")
                 : systemError("lock", file, errno);
  cleanUp(path);
  return Status::success();
}

Status CheckpointFolder::fileOfRank(int64_t step, int rank,
                                    std::string &file) const {
  std::string folder = writingOf(step);
  std::error_code code;
  fs::create_directory(folder, code);
  if (code)
    return systemError("make the folder", folder, code.value());
  file = folder + "/" + rankFile(rank);
  return Status::success();
}

/// Brings the names of a folder to the disk.
static Status synchronize(const std::string &folder) {
  int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0)
    return systemError("open", folder, errno);
  int failed = fsync(opened) == 0 ? 0 : errno;
  close(opened);
  return failed ? systemError("synchronize", folder, failed)
                : Status::success();
}

/// Makes what was written of a step its checkpoint. One that a run which was
/// begun again before it has left there is replaced: at any moment one of the
/// two has the name, or is given it back by the next run.
Status CheckpointFolder::takePlace(int64_t step) const {
  std::string writing = writingOf(step), final = folderOf(step),
              replaced = path + "/" + replacedPrefix + padded(step, 8);
  std::error_code code, ignored;
  if (!fs::exists(final, code)) {
    fs::rename(writing, final, code);
    return code ? systemError("rename", writing, code.value())
                : Status::success();
  }
  if (renameat2(AT_FDCWD, writing.c_str(), AT_FDCWD, final.c_str(),
                RENAME_EXCHANGE) == 0)
    return Status::success();
  fs::rename(final, replaced, code);
  if (code)
    return systemError("rename", final, code.value());
  fs::rename(writing, final, code);
  if (code)
    fs::rename(replaced, final, ignored);
  return code ? systemError("rename", writing, code.value())
              : Status::success();
}

Status CheckpointFolder::finish(int64_t step, int ranks,
                                CheckpointManifest manifest,
                                int64_t keep) const {
  std::string writing = writingOf(step);
  const std::optional<BestPlace> best = manifest.place.best;
  manifest.step = step;
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks; ++rank)
    names.push_back(rankFile(rank));
  APRT_TRY(writeManifest(writing, names, manifest));
  APRT_TRY(synchronize(writing));
  APRT_TRY(takePlace(step));
  APRT_TRY(synchronize(path));
  std::error_code ignored;
  fs::remove_all(writing, ignored); // what was replaced
  fs::remove_all(path + "/" + replacedPrefix + padded(step, 8), ignored);
  if (best && best->step == step)
    linkBest(step);
  removeOld(step, keep, best ? best->step : -1,
            /*keepsFinite=*/!manifest.notFinite.empty());
  return Status::success();
}

/// The name `best` is for people; a run finds the best one by its step.
void CheckpointFolder::linkBest(int64_t step) const {
  std::error_code ignored;
  std::string name = path + "/best", next = path + "/" + writingPrefix + "best";
  fs::remove(next, ignored);
  fs::create_symlink(fs::path(folderOf(step)).filename(), next, ignored);
  fs::rename(next, name, ignored);
}

/// A checkpoint that is half removed is none.
void CheckpointFolder::remove(int64_t step) const {
  std::string old = path + "/" + oldPrefix + padded(step, 8);
  std::error_code code, ignored;
  fs::remove_all(old, ignored); // of a removal that failed
  fs::rename(folderOf(step), old, code);
  fs::remove_all(code ? folderOf(step) : old, ignored);
}

/// A checkpoint that is newer is of a run that went further, and this one does
/// not remove it. With `keepsFinite` the newest one whose states are all finite
/// stays, too.
void CheckpointFolder::removeOld(int64_t newest, int64_t keep, int64_t best,
                                 bool keepsFinite) const {
  int64_t kept = 0;
  for (int64_t step : steps()) {
    if (keep <= 0 || step > newest)
      continue;
    bool isKept = ++kept <= keep || step == best;
    if (keepsFinite && isFinite(step)) {
      isKept = true;
      keepsFinite = false;
    }
    if (!isKept)
      remove(step);
  }
}

bool CheckpointFolder::isFinite(int64_t step) const {
  CheckpointManifest manifest;
  return readManifest(folderOf(step), manifest).ok() &&
         manifest.notFinite.empty();
}

int64_t CheckpointFolder::finiteBefore(int64_t step) const {
  for (int64_t other : steps())
    if (other < step && isFinite(other))
      return other;
  return -1;
}

void CheckpointFolder::drop(int64_t step) const {
  std::error_code ignored;
  fs::remove_all(writingOf(step), ignored);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::vector<int64_t> CheckpointFolder::steps() const {
  std::vector<int64_t> found;
  for (const std::string &name : namesIn(path)) {
    std::string digits =
        beginsWith(name, stepPrefix) ? name.substr(sizeof(stepPrefix) - 1) : "";
    if (!digits.empty() && digits.size() < 18 &&
        digits.find_first_not_of("0123456789") == std::string::npos)
      found.push_back(std::stoll(digits));
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

} // namespace autopar::runtime
