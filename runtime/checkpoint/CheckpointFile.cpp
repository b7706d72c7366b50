//===- CheckpointFile.cpp - One rank's states in a file -------------------===//

#include "CheckpointFile.h"

#include "../core/JsonReader.h"
#include "../core/Safetensors.h"

namespace autopar::runtime {

Status writeCheckpointFile(const std::string &path,
                           const std::vector<BlockBytes> &blocks) {
  std::vector<ArrayView> arrays;
  std::map<std::string, std::string> metadata;
  for (const auto &[block, data] : blocks) {
    ContentHash hash;
    hash.add(data, size_t(block.bytes()));
    arrays.push_back({block.key, block.dtype, block.lengths, data});
    nlohmann::json place = {{"shape", block.shape},
                            {"start", block.starts},
                            {"hash", formatHash(hash.value())}};
    if (block.view != block.shape)
      place["view"] = block.view;
    metadata[block.key] = place.dump();
  }
  return writeSafetensors(path, std::move(arrays), metadata,
                          /*isDurable=*/true);
}

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
