//===- Checkpoint.cpp - The states that a run goes on with ----------------===//

#include "Checkpoint.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

namespace autopar::runtime {

Status Checkpoint::otherBytes(const Place &place) const {
  return Status::error("'" + files[place.file].path() + "': the bytes of '" +
                       place.stored.block.key +
                       "' are others than were written");
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Status Checkpoint::open(const std::string &from, bool readsAll, bool keeps) {
  *this = Checkpoint();
  folder = from;
  APRT_TRY(readManifest(folder, manifest));
  for (const CheckpointManifest::File &file : manifest.files)
    APRT_TRY(openFile(file));
  APRT_TRY(checkWhole());
  if (keeps)
    makeRoom();
  return readsAll ? checkBytes() : Status::success();
}

Status Checkpoint::openFile(const CheckpointManifest::File &file) {
  FileReader &reader = files.emplace_back();
  APRT_TRY(reader.open(folder + "/" + file.name));
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
  places.emplace(block.key, Place{files.size() - 1, stored});
  return Status::success();
}

/// Blocks of a state are of one plan, disjoint: they are all of it if they have
/// as many elements.
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

/// Bytes of memory that processes could take now.
static int64_t freeBytes() {
  std::ifstream lines("/proc/meminfo");
  for (std::string name, rest; lines >> name; std::getline(lines, rest))
    if (int64_t kilobytes = 0; name == "MemAvailable:" && lines >> kilobytes)
      return kilobytes << 10;
  return 0;
}

/// Without memory for them the bytes are read once more when they are needed.
void Checkpoint::makeRoom() {
  constexpr int64_t alignment = 64;
  const int64_t most = freeBytes() / 2;
  int64_t end = 0;
  for (auto &[key, place] : places) {
    place.keptAt = end;
    end += (place.stored.block.bytes() + alignment - 1) / alignment * alignment;
    if (end > most)
      return;
  }
  (void)kept.allocate(end, "the states of a checkpoint", /*counter=*/nullptr);
}

/// Hashes a block piece by piece, each while it is in the cache; `piece` is the
/// memory for those that are not kept.
Status Checkpoint::checkBlock(const Place &place,
                              std::vector<char> &piece) const {
  constexpr int64_t pieceBytes = 1 << 20;
  int64_t bytes = place.stored.block.bytes();
  if (!kept.data())
    piece.resize(size_t(pieceBytes));
  ContentHash hash;
  for (int64_t done = 0; done < bytes; done += pieceBytes) {
    int64_t count = std::min(bytes - done, pieceBytes);
    char *to = kept.data()
                   ? static_cast<char *>(kept.data()) + place.keptAt + done
                   : piece.data();
    APRT_TRY(
        files[place.file].readDirect(place.stored.offset + done, count, to));
    hash.add(to, size_t(count));
  }
  return hash.value() == place.stored.hash ? Status::success()
                                           : otherBytes(place);
}

/// Each thread takes the next block that none has taken.
Status Checkpoint::checkBytes() const {
  std::vector<const Place *> all;
  for (const auto &[key, place] : places)
    all.push_back(&place);
  std::vector<Status> results(all.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::vector<char> piece;
    for (size_t i; (i = next.fetch_add(1)) < all.size();)
      results[i] = checkBlock(*all[i], piece);
  };
  size_t others =
      std::min<size_t>(std::thread::hardware_concurrency(), all.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < others; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (Status &result : results)
    if (result.failed())
      return result;
  return Status::success();
}

Status openCheckpoint(const std::string &path, bool readsAll,
                      Checkpoint &checkpoint, std::vector<std::string> &doubts,
                      bool keeps) {
  if (isCheckpoint(path))
    return checkpoint.open(path, readsAll, keeps);
  CheckpointFolder all(path);
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored))
    return Status::error("there is no folder '" + path + "'");
  if (all.steps().empty())
    return Status::error("'" + path +
                         "' has no checkpoint, no folder "
                         "step-N: name another one");
  for (int64_t step : all.steps()) {
    Status status = checkpoint.open(all.folderOf(step), readsAll, keeps);
    if (status.ok())
      return status;
    doubts.push_back("a checkpoint is left out, for it is not whole: " +
                     status.message());
  }
  return Status::error("'" + path +
                       "' has no checkpoint that is whole: begin anew with "
                       "another folder, and --weights if there are any");
}

bool hasCheckpoint(const std::string &path) {
  return isCheckpoint(path) || !CheckpointFolder(path).steps().empty();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Status Checkpoint::readBlock(const Place &place, char *to) const {
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
    if (kept.data()) {
      to.data = static_cast<const char *>(kept.data()) + place->second.keptAt;
      continue;
    }
    to.read = ArrayBytes(size_t(block.bytes()));
    to.data = to.read.data();
    APRT_TRY(readBlock(place->second, to.read.data()));
  }
  return Status::success();
}

void LoadedState::copy(const std::vector<Interval> &part, char *to) const {
  if (blocks.size() != 1 || !isInside(part))
    std::memset(to, 0, size_t(elementsOf(part) * elementBytes));
  for (const Loaded &loaded : blocks)
    forEachOverlap(loaded.block, part,
                   [this, to, from = loaded.data](const OverlapRun &run) {
                     std::memcpy(to + run.partAt * elementBytes,
                                 from + run.boxAt * elementBytes,
                                 size_t(run.count * elementBytes));
                   });
}

} // namespace autopar::runtime
