//===- CheckpointFile.cpp - One rank's states in a file -------------------===//

#include "CheckpointFile.h"

#include "../core/AtOnce.h"
#include "../core/Finite.h"
#include "../core/JsonReader.h"
#include "../core/Safetensors.h"
#include "../files/DiskFile.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Disks take what begins and ends at such a byte without another copy.
static constexpr int64_t sectorBytes = 4096;
/// FileImage::write writes so many bytes at a time. Before each of these pieces
/// the hashers hash as many bytes, of any blocks.
static constexpr int64_t pieceBytes = 16 << 20;
/// A strip is hashed and tested for numbers that are not finite in one pass.
static constexpr int64_t stripBytes = 64 << 10;

std::string FileImage::header() const {
  std::vector<ArrayView> arrays;
  std::map<std::string, std::string> metadata;
  for (const Part &part : parts) {
    const StateBlock &block = part.block;
    arrays.push_back({block.key, block.dtype, block.lengths, nullptr});
    nlohmann::json place = {{"shape", block.shape},
                            {"start", block.starts},
                            {"hash", formatHash(part.hash.value())},
                            {"finite", int(part.isFinite)}};
    if (block.view != block.shape)
      place["view"] = block.view;
    metadata[block.key] = place.dump();
  }
  return safetensorsHeader(arrays, metadata, sectorBytes);
}

/// Blocks of large elements come first, so that all are aligned to theirs. A
/// header is as long whatever the hashes are and whether blocks are finite.
Status FileImage::create(const std::vector<StateBlock> &blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(-elementBytes(blocks[a].dtype), blocks[a].key) <
           std::make_pair(-elementBytes(blocks[b].dtype), blocks[b].key);
  });
  parts.clear();
  for (size_t number : order)
    parts.push_back({blocks[number], 0, 0, {}, true});
  bytes = headerBytes = int64_t(header().size());
  places.resize(blocks.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    places[order[i]] = parts[i].begin = bytes;
    bytes = parts[i].end = bytes + parts[i].block.bytes();
  }
  return image.allocate(bytes, "a copy of the states, to be saved",
                        /*counter=*/nullptr);
}

/// Hashes blocks one after another, as many bytes at a time as it is told.
class FileImage::Hasher {
public:
  /// Hashers with one `next` share the blocks of the image.
  Hasher(FileImage &image, std::atomic<size_t> &next)
      : image(image), next(next) {}

  /// Hashes the next `count` bytes. Returns false if there were fewer and no
  /// block is left. The hasher takes the next block that none has taken when it
  /// is done with one.
  bool hash(int64_t count) {
    while (count > 0) {
      if (!part || at == part->end) {
        size_t number = next.fetch_add(1);
        if (number >= image.parts.size())
          return false;
        part = &image.parts[number];
        at = part->begin;
      }
      int64_t end = std::min({at + stripBytes, at + count, part->end});
      if (addAndFindNotFinite(part->hash, part->block.dtype, image.data() + at,
                              at - part->begin, end - part->begin,
                              part->end - part->begin))
        part->isFinite = false;
      count -= end - at;
      at = end;
    }
    return true;
  }

private:
  FileImage &image;
  std::atomic<size_t> &next; // the first block that no hasher has taken
  Part *part = nullptr;      // its block
  int64_t at = 0;            // the place in the image of the next byte
};

std::string FileImage::nameAt(int64_t offset) const {
  for (const Part &part : parts)
    if (offset >= part.begin && offset < part.end)
      return " at '" + part.block.key + "'";
  return "";
}

/// Past the system's cache where the file system can do that: steps beside it
/// keep their cores, which would copy each byte once more. The threads of a
/// step wait for each other, so that a step loses what the slowest of them
/// loses. Therefore several threads hash at once, for half as long on two
/// cores.
Status FileImage::write(const std::string &path) {
  constexpr unsigned mostHashers = 4; // more only wait for memory
  DiskFile file;
  APRT_TRY(file.open(path, bytes));
  for (Part &part : parts) {
    part.hash = ContentHash();
    part.isFinite = true;
  }
  std::atomic<size_t> next{0};
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Hasher> hashers(std::min(mostHashers, cores),
                              Hasher(*this, next));
  auto hash = [&](int64_t count) {
    std::atomic<bool> isMore{false};
    atOnce(hashers.size(), [&](size_t i) {
      if (hashers[i].hash(count / int64_t(hashers.size())))
        isMore.store(true);
    });
    return isMore.load();
  };
  for (int64_t begin = headerBytes; begin < bytes; begin += pieceBytes) {
    int64_t end = std::min(bytes, begin + pieceBytes);
    hash(end - begin);
    APRT_TRY(file.write(data() + begin, begin, end - begin,
                        [this](int64_t offset) { return nameAt(offset); }));
  }
  // Blocks are of unequal sizes, so that hashers may have some left. The
  // threads of each turn have the priority that this thread has by then.
  while (hash(pieceBytes)) {
  }
  std::string text = header();
  std::memcpy(data(), text.data(), text.size());
  APRT_TRY(file.write(data(), 0, headerBytes,
                      [](int64_t) { return " at its header"; }));
  return file.finish();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads what the metadata say of a block.
static Status readPlace(const std::string &text, const std::string &key,
                        StoredBlock &stored) {
  nlohmann::json value =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  Status status;
  JsonReader json(value, key, status);
  StateBlock &block = stored.block;
  block.shape = json.member("shape").integers(0, INT64_MAX);
  JsonReader view = json.member("view", /*optional=*/true);
  block.view = view.isNull() ? block.shape : view.integers(0, INT64_MAX);
  block.starts = json.member("start").integers(0, INT64_MAX);
  if (!parseHash(json.member("hash").string(), stored.hash))
    json.fail("has a bad hash");
  JsonReader finite = json.member("finite", /*optional=*/true);
  stored.isFinite = finite.isNull() || finite.integer(0, 1) == 1;
  APRT_TRY(status);
  bool isInside = block.view.size() == block.lengths.size() &&
                  block.starts.size() == block.lengths.size();
  for (size_t d = 0; isInside && d < block.view.size(); ++d)
    isInside = block.lengths[d] <= block.view[d] &&
               block.starts[d] <= block.view[d] - block.lengths[d];
  int64_t bytes = 0, cut = 0;
  if (isInside && tensorBytes(block.dtype, block.shape, bytes) &&
      tensorBytes(block.dtype, block.view, cut) && bytes == cut)
    return Status::success();
  return Status::error("the block of '" + key + "' is not within its state");
}

Status readCheckpointFile(FileReader &file, std::vector<StoredBlock> &blocks) {
  TensorIndex index;
  std::map<std::string, std::string> metadata;
  APRT_TRY(readSafetensorsIndex(file, index, &metadata));
  auto fail = [&](const std::string &what) {
    return Status::error("'" + file.path() + "': " + what);
  };
  for (const auto &[key, tensor] : index) {
    StoredBlock stored;
    if (!parseDtype(tensor.dtype, stored.block.dtype))
      return fail("'" + key + "' is of type " + tensor.dtype +
                  ", which is not known");
    stored.block.key = key;
    stored.block.lengths = tensor.shape;
    stored.offset = tensor.offset;
    auto found = metadata.find(key);
    if (found == metadata.end())
      return fail("the header does not say where the block of '" + key +
                  "' is");
    if (Status status = readPlace(found->second, key, stored); status.failed())
      return fail(status.message());
    blocks.push_back(std::move(stored));
  }
  return Status::success();
}

} // namespace autopar::runtime
