//===- Shards.cpp - Arrays whose rows are in several files ----------------===//

#include "Shards.h"

#include "../core/Npy.h"
#include "../core/Safetensors.h"

#include <algorithm>
#include <filesystem>
#include <glob.h>
#include <sys/resource.h>

namespace autopar::runtime {

namespace fs = std::filesystem;

static constexpr const char *extensions[] = {".npz", ".npy", ".safetensors"};

static bool isShard(const fs::path &path) {
  std::string extension = path.extension().string();
  return std::find(std::begin(extensions), std::end(extensions), extension) !=
         std::end(extensions);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

bool Shards::isNamedBy(const std::string &argument) {
  std::error_code ignored;
  return fs::is_directory(argument, ignored) ||
         (argument.find_first_of("*?[") != std::string::npos &&
          !fs::exists(argument, ignored));
}

/// Finds the files in the order of their names. Other files of a folder, such
/// as a README, are not part of the data, but a pattern selects every file that
/// it matches.
Status Shards::findFiles(std::vector<std::string> &paths) const {
  std::error_code code;
  bool isFolder = fs::is_directory(argument, code);
  if (isFolder) {
    for (fs::directory_iterator at(argument, code), end; !code && at != end;
         at.increment(code))
      if (isShard(at->path()) && !at->is_directory())
        paths.push_back(at->path().string());
    if (code)
      return Status::error("cannot read the folder '" + argument +
                           "': " + code.message());
  } else if (fs::exists(argument, code)) {
    paths.push_back(argument);
  } else {
    glob_t found{};
    if (glob(argument.c_str(), 0, nullptr, &found) == 0)
      paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty())
    return Status::error(isFolder
                             ? "the folder '" + argument +
                                   "' has no .npz, .npy or safetensors file"
                             : "there is no file '" + argument +
                                   "', and none of such a pattern");
  return Status::success();
}

/// Raises the limit of open files as far as the system allows.
static void allowManyFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit); // else opening says so
}

Status Shards::open(const std::string &given) {
  argument = given;
  std::vector<std::string> paths;
  APRT_TRY(findFiles(paths));
  if (paths.size() > 512)
    allowManyFiles();
  for (const std::string &path : paths)
    APRT_TRY(openFile(path));
  APRT_TRY(checkPieces());
  int64_t rows = 0;
  for (const Column::Piece &piece : all.front().pieces)
    ends.push_back(rows += piece.rows);
  return Status::success();
}

/// Splits the name of a file: `labels-0003.npy` has the array `labels` and the
/// number `0003`, and `labels.npy` has no number.
static std::pair<std::string, std::string>
nameAndNumberOf(const std::string &path) {
  std::string stem = fs::path(path).stem().string();
  size_t digits = stem.find_last_not_of("0123456789");
  bool isNumbered = digits != std::string::npos && digits > 0 &&
                    digits + 1 < stem.size() && stem[digits] == '-';
  if (!isNumbered)
    return {stem, ""};
  return {stem.substr(0, digits), stem.substr(digits + 1)};
}

Status Shards::readArrays(FileReader &file,
                          std::vector<StoredArray> &arrays) const {
  const std::string &path = file.path();
  std::string extension = fs::path(path).extension().string();
  if (extension == ".npz") {
    std::vector<StoredNpy> stored;
    APRT_TRY(indexNpz(file, stored));
    for (const StoredNpy &entry : stored)
      arrays.push_back({entry.name, entry.header.dtype, entry.header.shape,
                        entry.header.dataOffset});
    return Status::success();
  }
  if (extension == ".npy") {
    NpyHeader header;
    APRT_TRY(readNpyHeader(file, header));
    auto [name, number] = nameAndNumberOf(path);
    arrays.push_back(
        {name, header.dtype, header.shape, header.dataOffset, number});
    return Status::success();
  }
  TensorIndex index;
  APRT_TRY(readSafetensorsIndex(file, index));
  for (const auto &[name, tensor] : index) {
    StoredArray &array = arrays.emplace_back();
    if (!parseDtype(tensor.dtype, array.dtype))
      return Status::error("'" + path + "': the array '" + name + "' is of " +
                           tensor.dtype + ", which no input has");
    array.name = name;
    array.shape = tensor.shape;
    array.offset = tensor.offset;
  }
  return Status::success();
}

Status Shards::openFile(const std::string &path) {
  if (!isShard(path))
    return Status::error("'" + path +
                         "' is no .npz, .npy or safetensors file, which "
                         "shards are");
  FileReader &file = files.emplace_back();
  APRT_TRY(file.open(path));
  std::vector<StoredArray> arrays;
  APRT_TRY(readArrays(file, arrays));
  file.dropWindow();
  if (fs::path(path).extension() != ".npy")
    APRT_TRY(checkNames(arrays));
  for (const StoredArray &array : arrays)
    APRT_TRY(addArray(array));
  return Status::success();
}

/// Checks that the last file of several arrays has the same ones as the first
/// such file.
Status Shards::checkNames(const std::vector<StoredArray> &arrays) {
  std::set<std::string> names;
  for (const StoredArray &array : arrays)
    if (!names.insert(array.name).second)
      return Status::error("'" + files.back().path() + "' has the array '" +
                           array.name + "' twice");
  if (firstFile.empty()) {
    firstFile = files.back().path();
    namesOfFirst = names;
  }
  const std::string &path = files.back().path();
  auto fail = [](const std::string &lacking, const std::string &name,
                 const std::string &having) {
    return Status::error("'" + lacking + "' has no array '" + name +
                         "', which '" + having + "' has");
  };
  for (const std::string &name : namesOfFirst)
    if (names.count(name) == 0)
      return fail(path, name, firstFile);
  for (const std::string &name : names)
    if (namesOfFirst.count(name) == 0)
      return fail(firstFile, name, path);
  return Status::success();
}

/// Adds a piece of the array of that name.
Status Shards::addArray(const StoredArray &array) {
  auto fail = [&](const std::string &what) {
    return Status::error("'" + files.back().path() + "': the array '" +
                         array.name + "' " + what);
  };
  if (array.shape.empty())
    return fail("is one number: the first dimension of a shard's array counts "
                "rows");
  std::vector<int64_t> rowShape(array.shape.begin() + 1, array.shape.end());
  auto place = std::find_if(all.begin(), all.end(), [&](const Column &column) {
    return column.name >= array.name;
  });
  if (place == all.end() || place->name != array.name) {
    place = all.insert(place, {array.name, array.dtype, rowShape, 0, {}});
    if (!tensorBytes(array.dtype, rowShape, place->rowBytes))
      return fail("is too large");
  }
  if (place->dtype != array.dtype || place->rowShape != rowShape)
    return fail("has rows of " + describeTensor(array.dtype, rowShape) +
                ", but in '" + files[place->pieces.front().file].path() +
                "' they are " + describeTensor(place->dtype, place->rowShape));
  place->pieces.push_back(
      {files.size() - 1, array.offset, array.shape.front(), array.number});
  return Status::success();
}

/// Checks that the arrays have the same rows, because row 5 of each array
/// belongs to row 5 of all others.
Status Shards::checkPieces() const {
  if (all.empty())
    return Status::error("'" + argument + "' has no array");
  const Column &first = all.front();
  auto pathOf = [&](const Column::Piece &piece) {
    return "'" + files[piece.file].path() + "'";
  };
  for (const Column &column : all) {
    size_t common = std::min(column.pieces.size(), first.pieces.size());
    for (size_t i = 0; i < common; ++i) {
      const Column::Piece &one = first.pieces[i], &other = column.pieces[i];
      if (one.number != other.number)
        return Status::error(pathOf(one) + " and " + pathOf(other) +
                             " stand at the same place, and their numbers are "
                             "others: each .npy file wants one of every array "
                             "with its number");
      if (one.rows != other.rows)
        return Status::error(pathOf(other) + ": the array '" + column.name +
                             "' has " + std::to_string(other.rows) +
                             " rows, but '" + first.name + "' of " +
                             pathOf(one) + " has " + std::to_string(one.rows));
    }
    if (column.pieces.size() == first.pieces.size())
      continue;
    const Column &longer = column.pieces.size() > common ? column : first;
    const Column &shorter = &longer == &first ? column : first;
    return Status::error(pathOf(longer.pieces[common]) + " has the array '" +
                         longer.name + "' but no '" + shorter.name +
                         "', which other shards have");
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::vector<std::string> Shards::paths() const {
  std::vector<std::string> paths;
  for (const FileReader &file : files)
    paths.push_back(file.path());
  return paths;
}

const Shards::Column *Shards::find(const std::string &name) const {
  for (const Column &column : all)
    if (column.name == name)
      return &column;
  return nullptr;
}

uint64_t Shards::hash() const {
  ContentHash hash;
  auto text = [&](const std::string &word) {
    hash.add(word.c_str(), word.size() + 1);
  };
  for (const Column &column : all) {
    text(column.name);
    text(describeTensor(column.dtype, column.rowShape));
    for (const Column::Piece &piece : column.pieces) {
      text(fs::path(files[piece.file].path()).filename().string());
      text(std::to_string(files[piece.file].size()));
      text(std::to_string(piece.rows));
    }
  }
  return hash.value();
}

const Shards::Column::Piece &Shards::pieceOf(const Column &column, int64_t row,
                                             int64_t &within) const {
  size_t index =
      size_t(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
  within = row - (index == 0 ? 0 : ends[index - 1]);
  return column.pieces[index];
}

Status Shards::read(const Column &column, int64_t row, int64_t count,
                    char *to) const {
  while (count > 0) {
    int64_t within = 0;
    const Column::Piece &piece = pieceOf(column, row, within);
    int64_t here = std::min(count, piece.rows - within);
    APRT_TRY(files[piece.file].readDirect(
        piece.offset + within * column.rowBytes, here * column.rowBytes, to));
    row += here;
    count -= here;
    to += here * column.rowBytes;
  }
  return Status::success();
}

std::string Shards::placeOf(const Column &column, int64_t row) const {
  int64_t within = 0;
  const Column::Piece &piece = pieceOf(column, row, within);
  return "row " + std::to_string(within) + " of '" + files[piece.file].path() +
         "'";
}

} // namespace autopar::runtime
