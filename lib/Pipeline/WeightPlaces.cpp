//===- WeightPlaces.cpp - Where an executable finds its weights -----------===//

#include "WeightPlaces.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Attributes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <filesystem>

using namespace mlir;
namespace fs = std::filesystem;

namespace autopar {

static constexpr uint64_t kAlignment = 64;

llvm::Error WeightsFile::open() {
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createUniqueFile(
          path + ".%%%%%%%%", descriptor, beside))
    return llvm::createStringError(code, "cannot write beside '" + path +
                                             "': " + code.message());
  remover.setFile(beside);
  os = std::make_unique<llvm::raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  return llvm::Error::success();
}

llvm::Expected<ParameterAttr> WeightsFile::place(const OnnxModel &model,
                                                 ParameterAttr parameter) {
  std::string name = parameter.getName().str();
  auto [it, isNew] = places.try_emplace(name);
  if (isNew) {
    if (!os)
      if (llvm::Error error = open())
        return std::move(error);
    auto bytes = model.readParameter(name);
    if (!bytes)
      return bytes.takeError();
    os->write_zeros(llvm::alignTo(os->tell(), kAlignment) - os->tell());
    it->second = {static_cast<int64_t>(os->tell()),
                  static_cast<int64_t>(bytes->size())};
    os->write(bytes->data(), bytes->size());
  }
  MLIRContext *context = parameter.getContext();
  auto file = StringAttr::get(context, llvm::sys::path::filename(path));
  return ParameterAttr::get(context, parameter.getName(), file,
                            it->second.first, it->second.second);
}

llvm::Error WeightsFile::finish() {
  if (!os)
    return llvm::Error::success();
  os->close();
  std::error_code code = os->error();
  os->clear_error();
  if (!code)
    code = llvm::sys::fs::rename(beside, path);
  if (code)
    return llvm::createStringError(code, "cannot write '" + path +
                                             "': " + code.message());
  remover.releaseFile();
  return llvm::Error::success();
}

/// Where `file` lies relative to the executable.
static std::string besideModel(StringRef file, const WeightPaths &paths) {
  std::error_code code;
  fs::path folder = fs::absolute(paths.executable, code).parent_path();
  fs::path weights = fs::absolute(paths.model, code).parent_path() / file.str();
  fs::path relative = fs::relative(weights, folder, code);
  return code || relative.empty() ? file.str() : relative.string();
}

/// `--weights` names the only file, the one of several that is called so, or a
/// folder that holds them.
static std::string placeOf(StringRef file, size_t fileCount,
                           const WeightPaths &paths) {
  fs::path given = paths.given;
  if (given.empty())
    return besideModel(file, paths);
  if (fs::is_directory(given))
    return (given / file.str()).string();
  if (fileCount == 1 || given.filename() == fs::path(file.str()).filename())
    return given.string();
  return besideModel(file, paths);
}

llvm::Error placeWeightFiles(ModuleOp module, const OnnxModel &model,
                             const WeightPaths &paths, WeightsFile &made) {
  auto table = module->getAttrOfType<ArrayAttr>(kPersistent);
  if (!table)
    return llvm::Error::success();
  MLIRContext *context = module.getContext();
  std::vector<std::string> files; // in order of first use
  SmallVector<Attribute> stages;
  for (auto stage : table.getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> entries;
    for (auto entry : stage.getAsRange<DictionaryAttr>()) {
      NamedAttrList fields(entry);
      auto parameter = entry.getAs<ParameterAttr>("source");
      if (parameter && parameter.getOffset() < 0) {
        auto placed = made.place(model, parameter);
        if (!placed)
          return placed.takeError();
        fields.set("source", *placed);
      } else if (parameter &&
                 !llvm::is_contained(files, parameter.getFile().str())) {
        files.push_back(parameter.getFile().str());
      }
      entries.push_back(fields.getDictionary(context));
    }
    stages.push_back(ArrayAttr::get(context, entries));
  }
  NamedAttrList places;
  for (const std::string &file : files)
    places.append(file,
                  StringAttr::get(context, placeOf(file, files.size(), paths)));
  module->setAttr(kPersistent, ArrayAttr::get(context, stages));
  module->setAttr(kWeightFiles, places.getDictionary(context));
  return llvm::Error::success();
}

} // namespace autopar
