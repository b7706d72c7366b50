//===- CompiledFiles.cpp - The files a program was compiled from ----------===//

#include "CompiledFiles.h"

#include "../files/FileIdentity.h"

#include <cstring>
#include <filesystem>

namespace autopar::runtime {

namespace fs = std::filesystem;

std::string pathOf(const WeightFileEntry &entry, const WeightHome &home) {
  if (entry.isMade && home.made.isEmbedded())
    return home.program;
  return (fs::path(home.folder) / entry.name).string();
}

Status openWeightFile(const WeightFileEntry &entry, const WeightHome &home,
                      const std::string &path, FileReader &file) {
  if (Status status = file.open(path); status.failed())
    return Status::error("cannot read the weights: " + status.message() +
                         "; --weights FILE says where they are");
  if (entry.isMade && home.made.isEmbedded())
    APRT_TRY(file.narrow(home.made.offset, home.made.size));
  if (file.size() < entry.bytes)
    return Status::error(
        "'" + path + "' has " + std::to_string(file.size()) +
        " bytes, but the program was compiled with weights of at least " +
        std::to_string(entry.bytes) + "; is it the same model?");
  return Status::success();
}

static Status changed(const FileReader &file, const std::string &how) {
  return Status::error("'" + file.path() +
                       "' is not the file that this program was compiled "
                       "from: " +
                       how +
                       "; compile the model again, or give weights of the same "
                       "names, types and shapes by --weights FILE");
}

static Status checkSize(const FileReader &file, int64_t size) {
  if (size < 0 || file.size() == size)
    return Status::success();
  return changed(file, "it has " + std::to_string(file.size()) +
                           " bytes, not " + std::to_string(size));
}

/// Checks that a made file ends with the same hash as the executable contains.
static Status checkMade(const MadeWeights &made, const FileReader &file) {
  if (!made.isKnown || made.isEmbedded())
    return Status::success();
  APRT_TRY(checkSize(file, made.size + int64_t(sizeof(MadeWeightsEnd))));
  MadeWeightsEnd end{};
  APRT_TRY(file.readDirect(made.size, sizeof(end), &end));
  if (std::memcmp(end.magic, "AUTOPARW", 8) == 0 && end.content == made.content)
    return Status::success();
  return changed(file, "it was written by another compilation");
}

Status checkUnchanged(const Manifest &manifest, size_t index,
                      const WeightHome &home, const FileReader &file) {
  const WeightFileEntry &entry = manifest.weightFiles[index];
  if (entry.isMade)
    return checkMade(home.made, file);
  APRT_TRY(checkSize(file, entry.size));
  if (!entry.structure)
    return Status::success();
  std::vector<ByteRange> data;
  for (const std::vector<PersistentEntry> &stage : manifest.persistent)
    for (const PersistentEntry &tensor : stage)
      if (tensor.isParameter && size_t(tensor.file) == index)
        data.push_back({tensor.offset, tensor.offset + tensor.globalBytes});
  uint64_t hash = 0;
  APRT_TRY(hashOutside(file, std::move(data), hash));
  if (hash == *entry.structure)
    return Status::success();
  return changed(file, "its graph, names, shapes or constants differ");
}

Status checkContent(const WeightFileEntry &entry, const WeightHome &home,
                    const FileReader &file) {
  ContentHash sum;
  bool isMade = entry.isMade && home.made.isKnown;
  if (!isMade && !entry.content)
    return Status::error("--verify-weights: '" + entry.name +
                         "' was not there when the program was compiled, so "
                         "its bytes are not known; compile where it is");
  int64_t size = isMade ? home.made.size : file.size();
  APRT_TRY(file.hash(0, size, sum));
  if (sum.value() == (isMade ? home.made.content : *entry.content))
    return Status::success();
  return changed(file, "its bytes differ");
}

} // namespace autopar::runtime
