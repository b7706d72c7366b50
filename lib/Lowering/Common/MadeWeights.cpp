//===- MadeWeights.cpp - Weights that the compiler writes -----------------===//

#include "autopar/Lowering/MadeWeights.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Support/Output.h"
#include "files/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace autopar {

static constexpr uint64_t kAlignment = 64;

llvm::Expected<MadeWeights>
MadeWeights::create(StringRef executable, bool isEmbedded, ArrayAttr placed) {
  runtime::OutputPlace place;
  if (llvm::Error error = toError(runtime::findOutput(executable.str(), place)))
    return std::move(error);
  MadeWeights made;
  made.embedded = isEmbedded;
  // A file beside the executable is possible only if the executable is a plain
  // file.
  bool isPlain = place.kind == runtime::OutputPlace::Regular;
  llvm::SmallString<128> home(isPlain ? place.path : std::string("program"));
  if (std::error_code code = llvm::sys::fs::make_absolute(home))
    return llvm::createStringError(code,
                                   "no working folder: " + code.message());
  made.home = llvm::sys::path::parent_path(home).str();
  made.beside = isPlain ? place.path + ".weights" : "";
  if (placed)
    for (auto piece : placed.getAsRange<MadeWeightAttr>())
      if (llvm::Error error = made.restore(piece))
        return std::move(error);
  return made;
}

llvm::Error MadeWeights::restore(MadeWeightAttr piece) {
  if (piece.getOffset() < end() ||
      !numbers.try_emplace(piece.getName().str(), pieces.size()).second)
    return llvm::createStringError(
        AutoparDialect::kMadeWeights +
        " must have each parameter once, one behind the other");
  pieces.push_back({piece.getName().str(), piece.getOffset(), piece.getSize()});
  return llvm::Error::success();
}

int64_t MadeWeights::end() const {
  return pieces.empty() ? 0 : pieces.back().offset + pieces.back().size;
}

std::string MadeWeights::name() const {
  return embedded ? "weights" : llvm::sys::path::filename(beside).str();
}

bool MadeWeights::isFile(StringRef other) const {
  return !embedded && llvm::sys::fs::equivalent(beside, other);
}

llvm::Expected<ParameterAttr> MadeWeights::place(ParameterAttr parameter) {
  if (!embedded && beside.empty())
    return llvm::createStringError(
        "some weights are in no file as they are (compressed, or as numbers) "
        "and need one beside the executable, which is no plain file; add "
        "--embed-weights");
  std::string name = parameter.getName().str();
  auto [it, isNew] = numbers.try_emplace(name, pieces.size());
  if (isNew)
    pieces.push_back({name,
                      static_cast<int64_t>(llvm::alignTo(end(), kAlignment)),
                      parameter.getLength()});
  const Piece &piece = pieces[it->second];
  return parameter.at(StringAttr::get(parameter.getContext(), file()),
                      piece.offset, piece.size);
}

} // namespace autopar
