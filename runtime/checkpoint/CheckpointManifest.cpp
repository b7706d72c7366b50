//===- CheckpointManifest.cpp - What a checkpoint is of -------------------===//

#include "CheckpointManifest.h"

#include "../core/JsonReader.h"
#include "../files/FileReader.h"
#include "../files/OutputFile.h"
#include "CheckpointFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace autopar::runtime {

namespace fs = std::filesystem;

static constexpr char manifestName[] = "manifest.json", hashName[] = "hash";

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Adds a file with its length and the hash of its header, and its states that
/// are not finite.
static Status addFile(const std::string &folder, const std::string &name,
                      CheckpointManifest &manifest) {
  FileReader reader;
  APRT_TRY(reader.open(folder + "/" + name));
  std::vector<StoredBlock> blocks;
  APRT_TRY(readCheckpointFile(reader, blocks));
  int64_t end = reader.size();
  for (const StoredBlock &stored : blocks) {
    end = std::min(end, stored.offset);
    if (!stored.isFinite)
      manifest.notFinite.push_back(stored.block.key);
  }
  ContentHash hash;
  APRT_TRY(reader.hash(0, end, hash));
  manifest.files.push_back({name, reader.size(), hash.value()});
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
  for (auto [name, hash] : {std::pair("model", &manifest.hashes.model),
                            std::pair("recipe", &manifest.hashes.recipe)})
    if (!hash->empty())
      json["hashes"][name] = *hash;
  if (const std::optional<BestPlace> &best = manifest.place.best)
    json["best"] = {{"metric", best->metric},
                    {"step", best->step},
                    {"value", best->value},
                    {"worse", best->worse},
                    {"shards", formatHash(best->shards)}};
  if (const std::optional<DataPlace> &data = manifest.place.data) {
    json["data"] = {{"epoch", data->epoch},
                    {"row", data->row},
                    {"rows", data->rows},
                    {"shards", formatHash(data->shards)}};
    if (data->seed)
      json["data"]["seed"] = *data->seed;
  }
  if (!manifest.place.iterable.empty())
    json["iterable"] = manifest.place.iterable;
  if (!manifest.notFinite.empty())
    json["not_finite"] = manifest.notFinite;
  for (const CheckpointManifest::File &file : manifest.files)
    json["files"].push_back({{"name", file.name},
                             {"bytes", file.bytes},
                             {"header", formatHash(file.header)}});
  json[hashName] = noHash;
  std::string text = json.dump(1) + "\n";
  return exchangeHash(text, noHash, hashOf(text));
}

Status writeManifest(const std::string &folder,
                     const std::vector<std::string> &names,
                     CheckpointManifest &manifest) {
  for (const std::string &name : names)
    APRT_TRY(addFile(folder, name, manifest));
  std::vector<std::string> &keys = manifest.notFinite;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return writeWhole(folder + "/" + manifestName, manifestText(manifest),
                    /*isDurable=*/true);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool isCheckpoint(const std::string &folder) {
  std::error_code ignored;
  return fs::exists(folder + "/" + manifestName, ignored);
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

static BestPlace parseBest(const JsonReader &json) {
  BestPlace best{json.member("metric").string(),
                 json.member("step").integer(0, INT64_MAX),
                 json.member("value").number(),
                 json.member("worse").integer(0, INT64_MAX)};
  JsonReader shards = json.member("shards", /*optional=*/true);
  if (!shards.isNull() && !parseHash(shards.string(), best.shards))
    json.fail("has a bad hash");
  return best;
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
  parseHashes(json.member("hashes", /*optional=*/true), manifest.hashes);
  if (JsonReader data = json.member("data", /*optional=*/true); !data.isNull())
    manifest.place.data = parseDataPlace(data);
  if (JsonReader best = json.member("best", /*optional=*/true); !best.isNull())
    manifest.place.best = parseBest(best);
  if (JsonReader text = json.member("iterable", /*optional=*/true);
      !text.isNull())
    manifest.place.iterable = text.string();
  if (JsonReader keys = json.member("not_finite", /*optional=*/true);
      !keys.isNull())
    for (const JsonReader &key : keys.elements())
      manifest.notFinite.push_back(key.string());
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

/// `'model/a', 'model/b' and 3 more`
static std::string listOf(const std::vector<std::string> &keys) {
  constexpr size_t shown = 2;
  std::string text;
  for (size_t i = 0; i < keys.size() && i < shown; ++i)
    text += (text.empty() ? "'" : ", '") + keys[i] + "'";
  return text + (keys.size() > shown
                     ? " and " + std::to_string(keys.size() - shown) + " more"
                     : "");
}

std::string notFiniteText(const CheckpointManifest &manifest) {
  return manifest.notFinite.empty()
             ? ""
             : "not all numbers are finite of " + listOf(manifest.notFinite);
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
      return Status::error("cannot find '" + name +
                           "': " + std::strerror(code.value()));
    if (bytes != uintmax_t(file.bytes))
      return Status::error("'" + name + "' has " + std::to_string(bytes) +
                           " bytes, but had " + std::to_string(file.bytes));
  }
  return Status::success();
}

} // namespace autopar::runtime
