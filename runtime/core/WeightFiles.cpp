//===- WeightFiles.cpp - Reading a rank's weights -------------------------===//

#include "WeightFiles.h"

#include "../checkpoint/Checkpoint.h"
#include "../files/MadeUpNames.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

namespace autopar::runtime {

namespace fs = std::filesystem;

Status WeightFiles::open(const Manifest &from, const WeightHome &where,
                         const std::string &path) {
  manifest = &from;
  home = where;
  given = path;
  files.resize(from.weightFiles.size());
  isOpen.resize(files.size());
  isCopy.resize(files.size());
  if (!given.empty())
    return openGiven(given);
  for (size_t i = 0; i < files.size(); ++i) {
    const WeightFileEntry &entry = from.weightFiles[i];
    std::error_code ignored;
    if (entry.bytes > 0 || entry.isMade ||
        fs::exists(pathOf(entry, home), ignored))
      APRT_TRY(openCompiled(int(i)));
  }
  return Status::success();
}

/// Opens an unchanged file at its own place. A program's own file cannot change
/// while it runs.
Status WeightFiles::openCompiled(int file) {
  if (isOpen[size_t(file)])
    return Status::success();
  const WeightFileEntry &entry = manifest->weightFiles[size_t(file)];
  FileReader &reader = files[size_t(file)];
  APRT_TRY(openWeightFile(entry, home, pathOf(entry, home), reader));
  if (!entry.isMade || !home.made.isEmbedded())
    APRT_TRY(reader.stamp(opened.emplace_back()));
  APRT_TRY(checkUnchanged(*manifest, size_t(file), home, reader));
  isOpen[size_t(file)] = true;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Files of --weights
//===----------------------------------------------------------------------===//

static std::vector<std::string> filesOf(const std::string &folder,
                                        const std::string &extension) {
  std::vector<std::string> result;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == extension && at->is_regular_file(error))
      result.push_back(at->path().string());
  std::sort(result.begin(), result.end());
  return result;
}

/// Returns the files of a folder that name their tensors: the model's own, or
/// else all safetensors files, or else all ONNX files. `beside` receives a
/// safetensors file beside the model's own.
static std::vector<std::string> namedFiles(const Manifest &manifest,
                                           const std::string &folder,
                                           std::string &beside) {
  std::error_code ignored;
  fs::path model = fs::path(folder) / manifest.model;
  std::vector<std::string> files = filesOf(folder, ".safetensors");
  if (model.extension() == ".onnx" && fs::is_regular_file(model, ignored)) {
    if (!files.empty())
      beside = fs::path(files.front()).filename().string();
    return {model.string()};
  }
  return files.empty() ? filesOf(folder, ".onnx") : files;
}

/// Takes copies of compiled files, which have their parameters at the same
/// places. A copy has the same name, or is the only file for the only compiled
/// one. Beside files with names it must be known to have the same structure.
Status WeightFiles::takeCopies(const std::string &path, bool isFolder) {
  size_t originals = 0;
  for (const WeightFileEntry &entry : manifest->weightFiles)
    originals += entry.bytes > 0 && !entry.isMade;
  for (size_t i = 0; i < files.size(); ++i) {
    const WeightFileEntry &entry = manifest->weightFiles[i];
    fs::path name = fs::path(entry.name).filename();
    fs::path at = isFolder ? fs::path(path) / name : fs::path(path);
    bool isMeant =
        isFolder || at.filename() == name || (originals == 1 && !entry.isMade);
    std::error_code ignored;
    if (entry.bytes == 0 || !isMeant || !fs::exists(at, ignored) ||
        (entry.isMade && home.made.isEmbedded()) ||
        (!named.isEmpty() && !entry.structure))
      continue;
    FileReader file;
    FileStamp stamp;
    APRT_TRY(file.open(at.string()));
    APRT_TRY(file.stamp(stamp));
    if (file.size() < entry.bytes ||
        checkUnchanged(*manifest, i, home, file).failed())
      continue;
    opened.push_back(std::move(stamp));
    files[i] = std::move(file);
    isOpen[i] = isCopy[i] = true;
  }
  return Status::success();
}

/// Rejects a checkpoint, a file of one, and a folder of nothing else, because
/// their tensors are blocks whose names differ from a model's.
static Status refuseCheckpoint(const std::string &path, bool isFolder,
                               bool hasFiles) {
  fs::path given(path);
  bool isOne =
      isCheckpoint(path) && fs::exists(given / "rank-0000.safetensors");
  bool isPart = !isFolder && given.filename().string().rfind("rank-", 0) == 0 &&
                isCheckpoint(given.parent_path().string());
  bool isAll = isFolder && !hasFiles && hasCheckpoint(path);
  if (!isOne && !isPart && !isAll)
    return Status::success();
  std::string folder = isPart ? given.parent_path().string() : path;
  return Status::error(
      "--weights: '" + path + "' is " +
      (isPart  ? "a part of a checkpoint"
       : isOne ? "a checkpoint"
               : "a folder of checkpoints") +
      "; `autopar checkpoint export " + folder +
      " -o weights.safetensors` writes its parameters, which --weights takes; "
      "--resume " +
      folder + " goes on with its training");
}

Status WeightFiles::openGiven(const std::string &path) {
  std::error_code ignored;
  bool isFolder = fs::is_directory(path, ignored);
  std::vector<std::string> candidates{path};
  if (isFolder)
    candidates = namedFiles(*manifest, path, beside);
  APRT_TRY(refuseCheckpoint(path, isFolder, !candidates.empty()));
  bool isKnown = false;
  for (const std::string &candidate : candidates)
    APRT_TRY(named.add(candidate, isKnown));
  APRT_TRY(takeCopies(path, isFolder));
  bool hasCopy = std::find(isCopy.begin(), isCopy.end(), true) != isCopy.end();
  if (!named.isEmpty())
    return named.checkKnown(manifest->knownTensors);
  if (hasCopy)
    return Status::success();
  std::string wanted;
  for (const WeightFileEntry &entry : manifest->weightFiles)
    if (entry.bytes > 0)
      wanted +=
          (wanted.empty() ? "'" : ", '") +
          fs::path(entry.name).filename().string() + "'" +
          (entry.size < 0 ? ""
                          : " of " + std::to_string(entry.size) + " bytes");
  return Status::error("--weights: '" + path + "' " +
                       (isFolder ? "holds" : "is") +
                       " neither an ONNX model nor a safetensors file (packed "
                       "ones are not read) nor an unchanged copy of " +
                       wanted);
}

static bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<std::string> WeightFiles::doubts() const {
  std::set<std::string> known;
  for (const auto &stage : manifest->persistent)
    for (const PersistentEntry &entry : stage)
      known.insert(entry.name);
  for (const KnownTensor &tensor : manifest->knownTensors)
    known.insert(tensor.name);
  size_t unread = 0;
  std::string first, statistics;
  for (const auto &[name, sources] : named.names()) {
    if (known.count(name) > 0 || endsWith(name, ".num_batches_tracked"))
      continue;
    if (statistics.empty() && endsWith(name, ".running_mean"))
      statistics = name;
    first = unread++ == 0 ? name : first;
  }
  std::vector<std::string> texts;
  if (!statistics.empty())
    texts.push_back(
        "'" + given + "' has '" + statistics +
        "', which this program does not read: if the export folded that batch "
        "norm into other weights, the results are wrong; "
        "autopar.export_for_training exports the norm itself, and compile "
        "--evaluate takes that");
  else if (unread > 0 && !named.hasOnnx()) // a graph has constants of its own
    texts.push_back("this program does not read " + std::to_string(unread) +
                    " of the tensors in '" + given + "', the first '" + first +
                    "'; are these the weights of this model?");
  if (!beside.empty())
    texts.push_back("'" + manifest->model + "' of the folder '" + given +
                    "' is read, and '" + beside +
                    "' is not; name the file that is meant");
  return texts;
}

std::vector<FileStamp> WeightFiles::stamps() const {
  std::vector<FileStamp> all = opened;
  all.insert(all.end(), named.stamps().begin(), named.stamps().end());
  return all;
}

Status WeightFiles::verify() {
  for (size_t i = 0; i < files.size(); ++i) {
    const WeightFileEntry &entry = manifest->weightFiles[i];
    if (entry.bytes == 0)
      continue;
    if (!isCopy[i] && !given.empty() && !entry.isMade)
      return Status::error("--verify-weights: '" + given +
                           "' holds no unchanged copy of '" + entry.name + "'");
    APRT_TRY(openCompiled(int(i)));
    APRT_TRY(checkContent(entry, home, files[i]));
  }
  return Status::success();
}

/// Locates a parameter by name if names are given, or else in a copy of the
/// file it was compiled in. Constants of the graph, and parameters that a copy
/// without names lacks, are in that file itself.
Status WeightFiles::locate(const PersistentEntry &entry, WeightBytes &where) {
  if (named.has(entry.name))
    return named.find(entry.name, entry.dtype, entry.globalShape, where);
  if (!isCopy[size_t(entry.file)] && !named.isEmpty() && !entry.isConstant)
    return Status::error(
        named.describe() + " has no tensor '" + entry.name + "'" +
        (isMadeUpName(entry.name)
             ? ", a name that an exporter made up; "
               "autopar.export_for_training exports models whose tensors have "
               "their parameters' names, and compile --evaluate takes those"
         : named.hasOnnx()
             ? ""
             : "; if this is a training's --final, what was not trained is to "
               "be added, as by module.load_state_dict(tensors, strict=False) "
               "and saving module.state_dict()"));
  APRT_TRY(openCompiled(entry.file));
  where.file = &files[size_t(entry.file)];
  where.offset = entry.offset;
  return Status::success();
}

Status WeightFiles::read(const PersistentEntry &entry,
                         const std::vector<Interval> &intervals, void *to) {
  WeightBytes where;
  APRT_TRY(locate(entry, where));
  int64_t element = elementBytes(entry.dtype);
  if (!isInside(intervals))
    std::memset(to, 0, size_t(elementsOf(intervals) * element));
  Status status;
  forEachRun(intervals, [&](const SliceRun &run) {
    int64_t from = run.globalOffset * element, bytes = run.count * element;
    char *at = static_cast<char *>(to) + run.localOffset * element;
    if (where.memory)
      std::memcpy(at, where.memory + from, size_t(bytes));
    else
      status = where.file->read(where.offset + from, bytes, at);
    return status.ok();
  });
  if (status.failed())
    return Status::error("cannot read parameter '" + entry.name +
                         "': " + status.message());
  return status;
}

} // namespace autopar::runtime
