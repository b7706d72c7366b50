//===- Checkpoint.cpp - The states that a run goes on with ----------------===//

#include "Checkpoint.h"

#include "../core/AtOnce.h"
#include "../core/MemoryGuard.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

namespace autopar::runtime {

Status Checkpoint::otherBytes(const BlockInFile &place) const {
  return Status::error("'" + files[place.file].path() + "': the bytes of '" +
                       place.stored.block.key +
                       "' are others than were written");
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Status Checkpoint::open(const std::string &from, bool readsAll) {
  *this = Checkpoint();
  folder = from;
  APRT_TRY(readManifest(folder, manifest));
  for (const CheckpointManifest::File &file : manifest.files)
    APRT_TRY(openFile(file));
  APRT_TRY(checkWhole());
  return readsAll ? checkBytes() : Status::success();
}

Status Checkpoint::openFile(const CheckpointManifest::File &file) {
  FileReader &reader = files.emplace_back();
  APRT_TRY(reader.open(folder + "/" + file.name));
  APRT_TRY(reader.stamp(stamps.emplace_back()));
  std::vector<StoredBlock> blocks;
  APRT_TRY(readCheckpointFile(reader, blocks));
  int64_t end = reader.size();
  for (const StoredBlock &stored : blocks)
    end = std::min(end, stored.offset);
  ContentHash hash;
  APRT_TRY(reader.hash(0, end, hash));
  if (hash.value() != file.header)
    return Status::error("the header of '" + reader.path() +
                         "' is another one than was written");
  for (const StoredBlock &stored : blocks)
    if (Status status = addBlock(stored); status.failed())
      return Status::error("'" + reader.path() + "': " + status.message());
  return Status::success();
}

Status Checkpoint::addBlock(const StoredBlock &stored) {
  const StateBlock &block = stored.block;
  StateBlock whole = block;
  whole.view = whole.lengths = block.shape;
  whole.starts.assign(block.shape.size(), 0);
  auto [known, isNew] = wholes.emplace(block.key, whole);
  if (known->second.shape != block.shape || known->second.dtype != block.dtype)
    return Status::error("the block of '" + block.key +
                         "' is of another type or shape than one before it");
  places.emplace(block.key, BlockInFile{files.size() - 1, stored});
  return Status::success();
}

/// Checks that blocks cover their states. The blocks of a state come from one
/// plan and are disjoint, so they cover it if they have the same number of
/// elements.
Status Checkpoint::checkWhole() const {
  for (const auto &[key, whole] : wholes) {
    int64_t elements = 0;
    auto [begin, end] = places.equal_range(key);
    for (auto place = begin; place != end; ++place)
      elements += place->second.stored.block.elements();
    if (elements != whole.elements())
      return Status::error("'" + folder + "' lacks a part of '" + key +
                           "': its blocks have " + std::to_string(elements) +
                           " of " + std::to_string(whole.elements()) +
                           " elements");
  }
  return Status::success();
}

/// Compares all bytes with their hashes. Each thread takes the next block that
/// no thread has taken.
Status Checkpoint::checkBytes() const {
  std::vector<const BlockInFile *> all;
  for (const auto &[key, place] : places)
    all.push_back(&place);
  std::vector<Status> results(all.size());
  std::atomic<size_t> next{0};
  auto check = [&](const BlockInFile &place) {
    return guardMemory("comparing a checkpoint with its hashes", [&] {
      const auto &[file, stored] = place;
      ContentHash hash;
      Status status =
          files[file].hash(stored.offset, stored.block.bytes(), hash);
      return status.ok() && hash.value() != stored.hash ? otherBytes(place)
                                                        : status;
    });
  };
  size_t cores = std::max(1u, std::thread::hardware_concurrency());
  atOnce(std::min(cores, std::max<size_t>(1, all.size())), [&](size_t) {
    for (size_t i; (i = next.fetch_add(1)) < all.size();)
      results[i] = check(*all[i]);
  });
  for (Status &result : results)
    if (result.failed())
      return result;
  return Status::success();
}

Status openCheckpoint(const std::string &path, bool readsAll,
                      Checkpoint &checkpoint,
                      std::vector<std::string> &doubts) {
  if (isCheckpoint(path))
    return checkpoint.open(path, readsAll);
  CheckpointFolder all(path);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return Status::error("there is no folder '" + path + "'");
  if (!std::filesystem::is_directory(path, ignored))
    return Status::error("'" + path +
                         "' is a file; name the folder of a checkpoint, or of "
                         "a run's checkpoints");
  if (all.steps().empty())
    return Status::error("'" + path +
                         "' has no checkpoint, no folder "
                         "step-N: name another one");
  for (int64_t step : all.steps()) {
    Status status = checkpoint.open(all.folderOf(step), readsAll);
    if (status.ok())
      return status;
    doubts.push_back("a checkpoint is left out, for it is not whole: " +
                     status.message());
  }
  return Status::error("'" + path +
                       "' has no checkpoint that is whole: begin anew with "
                       "another folder, and --weights if there are any");
}

std::string doubtOfNumbers(const Checkpoint &checkpoint) {
  std::string what = notFiniteText(checkpoint.about());
  if (what.empty())
    return "";
  std::filesystem::path path = std::filesystem::path(checkpoint.path());
  if (!path.has_filename()) // it ends with a slash
    path = path.parent_path();
  CheckpointFolder all(
      path.parent_path().empty() ? "." : path.parent_path().string());
  int64_t finite = all.finiteBefore(checkpoint.step());
  return "in the checkpoint '" + checkpoint.path() + "' " + what +
         (finite < 0 ? "; no checkpoint before it has only finite numbers"
                     : "; '" + all.folderOf(finite) +
                           "' is the newest before it with only finite "
                           "numbers");
}

bool hasCheckpoint(const std::string &path) {
  return isCheckpoint(path) || !CheckpointFolder(path).steps().empty();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Status Checkpoint::readBlock(const BlockInFile &place, char *to) const {
  const FileReader &file = files[place.file];
  const StateBlock &block = place.stored.block;
  APRT_TRY(file.readDirect(place.stored.offset, block.bytes(), to));
  ContentHash hash;
  hash.add(to, size_t(block.bytes()));
  return hash.value() == place.stored.hash ? Status::success()
                                           : otherBytes(place);
}

Status Checkpoint::read(const std::string &key,
                        const std::vector<Interval> &part,
                        LoadedState &loaded) const {
  auto [begin, end] = places.equal_range(key);
  loaded.elementBytes = elementBytes(wholes.at(key).dtype);
  for (auto place = begin; place != end; ++place) {
    const StateBlock &block = place->second.stored.block;
    if (forEachOverlap(block, part, [](const OverlapRun &) {}) == 0)
      continue;
    LoadedState::Loaded &to = loaded.blocks.emplace_back();
    to.block = block;
    to.data = ArrayBytes(size_t(block.bytes()));
    APRT_TRY(readBlock(place->second, to.data.data()));
  }
  return Status::success();
}

namespace {

/// Reads runs of a block in ascending order. Short runs that are close together
/// are read with one system call.
class RunReader {
public:
  RunReader(const FileReader &file, int64_t offset, int64_t bytes)
      : file(file), offset(offset), bytes(bytes) {}

  /// Reads `count` bytes of the block, the first of which is its byte `at`.
  Status read(int64_t at, int64_t count, char *to) {
    if (count >= windowBytes / 4)
      return file.readDirect(offset + at, count, to);
    if (at < begin || at + count > begin + int64_t(window.size())) {
      begin = at;
      window.resize(size_t(std::min(windowBytes, bytes - at)));
      APRT_TRY(
          file.readDirect(offset + at, int64_t(window.size()), window.data()));
    }
    std::memcpy(to, window.data() + (at - begin), size_t(count));
    return Status::success();
  }

private:
  static constexpr int64_t windowBytes = 256 << 10;
  const FileReader &file;
  const int64_t offset, bytes; // of the block
  std::vector<char> window;
  int64_t begin = 0;
};

} // namespace

Status Checkpoint::copy(const std::string &key,
                        const std::vector<Interval> &part, char *to) const {
  auto [begin, end] = places.equal_range(key);
  int64_t element = elementBytes(wholes.at(key).dtype);
  if (!isInside(part))
    std::memset(to, 0, size_t(elementsOf(part) * element));
  Status status;
  for (auto place = begin; place != end && status.ok(); ++place) {
    const auto &[file, stored] = place->second;
    RunReader reader(files[file], stored.offset, stored.block.bytes());
    forEachOverlap(stored.block, part, [&](const OverlapRun &run) {
      if (status.ok())
        status = reader.read(run.boxAt * element, run.count * element,
                             to + run.partAt * element);
    });
  }
  return status;
}

Status Checkpoint::checkFiles() const {
  for (const FileStamp &stamp : stamps)
    APRT_TRY(stamp.check());
  return Status::success();
}

void LoadedState::copy(const std::vector<Interval> &part, char *to) const {
  if (blocks.size() != 1 || !isInside(part))
    std::memset(to, 0, size_t(elementsOf(part) * elementBytes));
  for (const auto &[block, data] : blocks)
    forEachOverlap(block, part,
                   [this, to, from = data.data()](const OverlapRun &run) {
                     std::memcpy(to + run.partAt * elementBytes,
                                 from + run.boxAt * elementBytes,
                                 size_t(run.count * elementBytes));
                   });
}

} // namespace autopar::runtime
