//===- CheckpointFolder.cpp - The checkpoints of a run --------------------===//

#include "CheckpointFolder.h"

#include "../core/JsonReader.h"
#include "../core/Safetensors.h"
#include "../files/FileReader.h"
#include "../files/OutputFile.h"

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
                      replacedPrefix[] = ".replaced-", oldPrefix[] = ".old-",
                      manifestName[] = "manifest.json", hashName[] = "hash";

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

/// What a run that was killed has left: a checkpoint that was being replaced
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

/// Describes a file by its length and the hash of its header.
static Status describeFile(const std::string &folder, const std::string &name,
                           CheckpointManifest::File &file) {
  FileReader reader;
  APRT_TRY(reader.open(folder + "/" + name));
  TensorIndex index;
  APRT_TRY(readSafetensorsIndex(reader, index));
  int64_t end = reader.size();
  for (const auto &[key, tensor] : index)
    end = std::min(end, tensor.offset);
  ContentHash hash;
  APRT_TRY(reader.hash(0, end, hash));
  file = {name, reader.size(), hash.value()};
  return Status::success();
}

/// Stands for the manifest's hash in the text of which it is the hash.
static const std::string noHash(16, '0');

static std::string hashMember(const std::string &digits) {
  return std::string("\"") + hashName + "\": \"" + digits + '"';
}

/// The text with the hash of all that it says, or the other way round.
static std::string exchangeHash(std::string text, const std::string &from,
                                const std::string &to) {
  size_t at = text.find(hashMember(from));
  return at == std::string::npos
             ? ""
             : text.replace(at, hashMember(from).size(), hashMember(to));
}

static std::string hashOf(const std::string &text) {
  ContentHash hash;
  hash.add(text.data(), text.size());
  return formatHash(hash.value());
}

static std::string manifestText(const CheckpointManifest &manifest) {
  nlohmann::ordered_json json = {{"format", CheckpointManifest::newestFormat},
                                 {"step", manifest.step},
                                 {"model", manifest.model},
                                 {"compiler", manifest.compiler},
                                 {"mesh", manifest.mesh},
                                 {"files", nlohmann::ordered_json::array()}};
  if (const std::optional<BestPlace> &best = manifest.place.best)
    json["best"] = {{"metric", best->metric},
                    {"step", best->step},
                    {"value", best->value},
                    {"worse", best->worse}};
  if (const std::optional<DataPlace> &data = manifest.place.data) {
    json["data"] = {{"epoch", data->epoch},
                    {"row", data->row},
                    {"rows", data->rows},
                    {"shards", formatHash(data->shards)}};
    if (data->seed)
      json["data"]["seed"] = *data->seed;
  }
  for (const CheckpointManifest::File &file : manifest.files)
    json["files"].push_back({{"name", file.name},
                             {"bytes", file.bytes},
                             {"header", formatHash(file.header)}});
  json[hashName] = noHash;
  std::string text = json.dump(1) + "\n";
  return exchangeHash(text, noHash, hashOf(text));
}

/// What was written of a step becomes its checkpoint. One that a run which was
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
  manifest.step = step;
  for (int rank = 0; rank < ranks; ++rank)
    APRT_TRY(
        describeFile(writing, rankFile(rank), manifest.files.emplace_back()));
  APRT_TRY(writeWhole(writing + "/" + manifestName, manifestText(manifest),
                      /*isDurable=*/true));
  APRT_TRY(synchronize(writing));
  APRT_TRY(takePlace(step));
  APRT_TRY(synchronize(path));
  const std::optional<BestPlace> &best = manifest.place.best;
  if (best && best->step == step)
    linkBest(step);
  std::error_code ignored;
  fs::remove_all(writing, ignored); // what was replaced
  fs::remove_all(path + "/" + replacedPrefix + padded(step, 8), ignored);
  removeOld(step, keep, best ? best->step : -1);
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
/// not remove it.
void CheckpointFolder::removeOld(int64_t newest, int64_t keep,
                                 int64_t best) const {
  int64_t kept = 0;
  for (int64_t step : steps())
    if (keep > 0 && step <= newest && ++kept > keep && step != best)
      remove(step);
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

bool isCheckpoint(const std::string &folder) {
  std::error_code ignored;
  return fs::exists(folder + "/" + manifestName, ignored);
}

static DataPlace parseDataPlace(const JsonReader &json) {
  DataPlace place;
  place.epoch = json.member("epoch").integer(0, INT64_MAX);
  place.rows = json.member("rows").integer(1, INT64_MAX);
  place.row = json.member("row").integer(0, place.rows);
  if (!parseHash(json.member("shards").string(), place.shards))
    json.fail("has a bad hash");
  if (JsonReader seed = json.member("seed", /*optional=*/true); !seed.isNull())
    place.seed = uint64_t(seed.integer(0, INT64_MAX));
  return place;
}

/// True too for a manifest of an autopar that wrote no hash of it.
static bool hasItsHash(const std::string &text, const nlohmann::json &value) {
  auto found = value.find(hashName);
  if (found == value.end())
    return true;
  std::string hash = found->is_string() ? found->get<std::string>() : "";
  std::string hashed = exchangeHash(text, hash, noHash);
  return !hashed.empty() && hash == hashOf(hashed);
}

static Status parseManifest(const std::string &text,
                            CheckpointManifest &manifest) {
  nlohmann::json value =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object())
    return Status::error("is cut off or damaged");
  Status status;
  JsonReader json(value, "", status);
  int64_t format = json.member("format").integer(1, INT64_MAX);
  APRT_TRY(status);
  if (format > CheckpointManifest::newestFormat)
    return Status::error("is of format " + std::to_string(format) +
                         ", which a newer autopar writes; this one reads up "
                         "to format " +
                         std::to_string(CheckpointManifest::newestFormat));
  if (!hasItsHash(text, value))
    return Status::error("is damaged: its hash is another one");
  manifest.step = json.member("step").integer(0, INT64_MAX);
  manifest.model = json.member("model").string();
  manifest.compiler = json.member("compiler").string();
  manifest.mesh = json.member("mesh").string();
  if (JsonReader data = json.member("data", /*optional=*/true); !data.isNull())
    manifest.place.data = parseDataPlace(data);
  if (JsonReader best = json.member("best", /*optional=*/true); !best.isNull())
    manifest.place.best = {best.member("metric").string(),
                           best.member("step").integer(0, INT64_MAX),
                           best.member("value").number(),
                           best.member("worse").integer(0, INT64_MAX)};
  for (const JsonReader &file : json.member("files").elements()) {
    CheckpointManifest::File &to = manifest.files.emplace_back();
    to.name = file.member("name").string();
    to.bytes = file.member("bytes").integer(0, INT64_MAX);
    if (!parseHash(file.member("header").string(), to.header))
      file.fail("has a bad hash");
    if (to.name.find('/') != std::string::npos || to.name.empty())
      file.fail("has a name that is no file of the folder");
  }
  return status;
}

Status readManifest(const std::string &folder, CheckpointManifest &manifest) {
  constexpr int64_t most = 64 << 20;
  FileReader reader;
  std::string path = folder + "/" + manifestName;
  APRT_TRY(reader.open(path));
  if (reader.size() > most)
    return Status::error("'" + path + "' is too long");
  std::string text(size_t(reader.size()), ' ');
  APRT_TRY(reader.read(0, reader.size(), text.data()));
  if (Status status = parseManifest(text, manifest); status.failed())
    return Status::error("'" + path + "' " + status.message());
  for (const CheckpointManifest::File &file : manifest.files) {
    std::error_code code;
    std::string name = folder + "/" + file.name;
    uintmax_t bytes = fs::file_size(name, code);
    if (code)
      return systemError("find", name, code.value());
    if (bytes != uintmax_t(file.bytes))
      return Status::error("'" + name + "' has " + std::to_string(bytes) +
                           " bytes, but had " + std::to_string(file.bytes));
  }
  return Status::success();
}

} // namespace autopar::runtime
