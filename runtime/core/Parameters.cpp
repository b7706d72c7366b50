//===- Parameters.cpp - Reading a rank's weights --------------------------===//

#include "Parameters.h"

#include <cstring>
#include <filesystem>

namespace autopar::runtime {

Status WeightFiles::openFile(const WeightFileEntry &entry,
                             const std::string &path) {
  files.emplace_back();
  Status status = files.back().open(path);
  if (status.failed())
    return Status::error("cannot read the weights: " + status.message() +
                         "; --weights FILE says where they are");
  if (files.back().size() < entry.bytes)
    return Status::error(
        "'" + path + "' has " + std::to_string(files.back().size()) +
        " bytes, but the program was compiled with weights of "
        "at least " +
        std::to_string(entry.bytes) + "; is it the same model?");
  return Status::success();
}

Status WeightFiles::open(const Manifest &manifest, const std::string &folder,
                         const std::string &override) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  bool isFolder = !override.empty() && fs::is_directory(override, ignored);
  if (!override.empty() && !isFolder) {
    FileReader file;
    APRT_TRY(file.open(override));
    isSafetensors = looksLikeSafetensors(file);
    if (isSafetensors) {
      APRT_TRY(readSafetensorsIndex(file, index));
      files.push_back(std::move(file));
      return Status::success();
    }
  }
  for (const WeightFileEntry &entry : manifest.weightFiles) {
    fs::path name = fs::path(entry.name).filename();
    fs::path path = fs::path(folder) / entry.name;
    if (isFolder)
      path = fs::path(override) / name;
    else if (!override.empty() && (manifest.weightFiles.size() == 1 ||
                                   fs::path(override).filename() == name))
      path = override;
    APRT_TRY(openFile(entry, path.string()));
  }
  return Status::success();
}

Status WeightFiles::locate(const PersistentEntry &entry, FileReader *&file,
                           int64_t &offset) {
  if (!isSafetensors) {
    file = &files[entry.file];
    offset = entry.offset;
    return Status::success();
  }
  file = &files[0];
  auto found = index.find(entry.name);
  if (found == index.end())
    return Status::error("'" + file->path() + "' has no tensor '" + entry.name +
                         "'");
  if (found->second.dtype != safetensorsDtype(entry.dtype) ||
      found->second.shape != entry.globalShape)
    return Status::error("'" + file->path() + "': tensor '" + entry.name +
                         "' is not " +
                         describeTensor(entry.dtype, entry.globalShape));
  offset = found->second.offset;
  return Status::success();
}

Status WeightFiles::read(const PersistentEntry &entry,
                         const std::vector<Interval> &intervals, void *to) {
  FileReader *file = nullptr;
  int64_t offset = 0;
  APRT_TRY(locate(entry, file, offset));
  int64_t element = elementBytes(entry.dtype);
  if (!isInside(intervals))
    std::memset(to, 0, size_t(elementsOf(intervals) * element));
  Status status;
  forEachRun(intervals, [&](const SliceRun &run) {
    status =
        file->read(offset + run.globalOffset * element, run.count * element,
                   static_cast<char *>(to) + run.localOffset * element);
    return status.ok();
  });
  if (status.failed())
    return Status::error("cannot read parameter '" + entry.name +
                         "': " + status.message());
  return status;
}

} // namespace autopar::runtime
