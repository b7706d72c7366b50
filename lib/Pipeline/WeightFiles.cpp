//===- WeightFiles.cpp - Where an executable finds its weights ------------===//

#include "WeightFiles.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>
#include <map>
#include <set>

using namespace mlir;

namespace autopar {

namespace {

namespace fs = std::filesystem;

/// `file` as seen from the folder of `output`, so that both can move together.
std::string relativeTo(const fs::path &output, const fs::path &file) {
  std::error_code error;
  fs::path folder = fs::absolute(output, error).parent_path();
  fs::path relative = fs::relative(fs::absolute(file, error), folder, error);
  return error ? file.string() : relative.string();
}

/// Every argument that is a parameter, with its function.
void forEachParameter(
    ModuleOp module,
    llvm::function_ref<void(func::FuncOp, unsigned, ParameterAttr)> visit) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto parameter = function.getArgAttrOfType<ParameterAttr>(
              i, AutoparDialect::kSource))
        visit(function, i, parameter);
}

/// Writes the parameters without a place one after the other, each once, and
/// returns their places.
llvm::Expected<std::map<std::string, int64_t>>
writeSideFile(const OnnxModel &model, const std::set<std::string> &names,
              llvm::StringRef path) {
  std::map<std::string, int64_t> offsets;
  llvm::Error error =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
        int64_t offset = 0;
        for (const std::string &name : names) {
          llvm::Expected<std::vector<char>> bytes = model.readParameter(name);
          if (!bytes)
            return bytes.takeError();
          os.write(bytes->data(), bytes->size());
          offsets[name] = offset;
          offset += bytes->size();
        }
        return llvm::Error::success();
      });
  if (error)
    return std::move(error);
  return offsets;
}

} // namespace

llvm::Error placeWeights(ModuleOp module, const OnnxModel &model,
                         llvm::StringRef modelPath, llvm::StringRef weights,
                         llvm::StringRef output) {
  std::set<std::string> files, homeless;
  bool compressed = modelPath.ends_with(".gz");
  auto isHomeless = [&](ParameterAttr parameter) {
    return parameter.getOffset() < 0 ||
           (compressed && parameter.getFile() == model.fileName());
  };
  forEachParameter(module, [&](func::FuncOp, unsigned, ParameterAttr p) {
    if (isHomeless(p))
      homeless.insert(p.getName().str());
    else
      files.insert(p.getFile().str());
  });

  Builder builder(module.getContext());
  if (!homeless.empty()) {
    std::string side = (output + ".weights").str();
    auto offsets = writeSideFile(model, homeless, side);
    if (!offsets)
      return offsets.takeError();
    StringAttr file = builder.getStringAttr(fs::path(side).filename().string());
    forEachParameter(module, [&](func::FuncOp f, unsigned i, ParameterAttr p) {
      if (isHomeless(p))
        f.setArgAttr(i, AutoparDialect::kSource,
                     ParameterAttr::get(module.getContext(), p.getName(), file,
                                        offsets->at(p.getName().str()),
                                        p.getLength()));
    });
  }
  if (!weights.empty() && files.size() > 1)
    return llvm::createStringError(
        "--weights names one file, but the model's weights lie in " +
        llvm::Twine(files.size()) + " files");
  NamedAttrList places;
  fs::path folder = fs::path(modelPath.str()).parent_path();
  for (const std::string &file : files)
    places.set(file,
               builder.getStringAttr(relativeTo(
                   output.str(),
                   weights.empty() ? folder / file : fs::path(weights.str()))));
  module->setAttr(kWeightFiles, places.getDictionary(module.getContext()));
  return llvm::Error::success();
}

} // namespace autopar
