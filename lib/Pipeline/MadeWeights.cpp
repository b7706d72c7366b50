//===- MadeWeights.cpp - Weights that the compiler writes -----------------===//

#include "MadeWeights.h"
#include "autopar/Support/Output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace autopar {

static constexpr uint64_t kAlignment = 64;

std::string MadeWeights::name() const {
  return executable ? "weights" : llvm::sys::path::filename(path).str();
}

std::string MadeWeights::file() const { return "/" + name(); }

bool MadeWeights::isFile(StringRef other) const {
  return !executable && llvm::sys::fs::equivalent(path, other);
}

llvm::Error MadeWeights::begin() {
  if (executable) {
    out = &executable->file();
    start = out->position();
    return llvm::Error::success();
  }
  if (path.empty())
    return llvm::createStringError(
        "some weights are in no file as they are (compressed, or as numbers) "
        "and need one beside the executable, which is no plain file; add "
        "--embed-weights");
  out = &beside;
  return toError(beside.open(path));
}

llvm::Error MadeWeights::append(const char *bytes, uint64_t count) {
  hash.add(bytes, count);
  return toError(out->write(bytes, count));
}

llvm::Expected<ParameterAttr> MadeWeights::place(const OnnxModel &model,
                                                 ParameterAttr parameter) {
  std::string name = parameter.getName().str();
  auto [it, isNew] = places.try_emplace(name);
  if (isNew) {
    if (!out)
      if (llvm::Error error = begin())
        return std::move(error);
    auto bytes = model.readParameter(name);
    if (!bytes)
      return bytes.takeError();
    static constexpr char zeros[kAlignment] = {};
    uint64_t at = out->position() - start;
    if (llvm::Error error = append(zeros, llvm::alignTo(at, kAlignment) - at))
      return std::move(error);
    it->second = {static_cast<int64_t>(out->position() - start),
                  static_cast<int64_t>(bytes->size())};
    if (llvm::Error error = append(bytes->data(), bytes->size()))
      return std::move(error);
  }
  MLIRContext *context = parameter.getContext();
  return ParameterAttr::get(context, parameter.getName(),
                            StringAttr::get(context, file()), it->second.first,
                            it->second.second);
}

llvm::Expected<std::optional<MadeWeightsPlace>> MadeWeights::finish() {
  if (!out)
    return std::optional<MadeWeightsPlace>();
  MadeWeightsPlace place{start, out->position() - start, hash.value()};
  if (executable)
    return std::optional(place);
  std::string end = "AUTOPARW";
  for (unsigned byte = 0; byte < 8; ++byte)
    end += static_cast<char>(place.content >> (8 * byte));
  if (llvm::Error error = toError(out->write(end.data(), end.size())))
    return std::move(error);
  if (llvm::Error error = toError(out->commit()))
    return std::move(error);
  return std::optional(place);
}

} // namespace autopar
