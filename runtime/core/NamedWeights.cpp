//===- NamedWeights.cpp - Weights that are found by name ------------------===//

#include "NamedWeights.h"

#include "../files/BeneathFile.h"
#include "Safetensors.h"

#include <filesystem>

namespace autopar::runtime {

Status NamedWeights::add(const std::string &path, bool &isKnown) {
  auto source = std::make_unique<Source>();
  FileStamp stamp;
  APRT_TRY(source->file.open(path));
  APRT_TRY(source->file.stamp(stamp));
  isKnown = looksLikeSafetensors(source->file);
  bool isSafetensors = isKnown;
  if (isSafetensors)
    APRT_TRY(readSafetensorsIndex(source->file, source->tensors));
  else
    APRT_TRY(readOnnxIndex(source->file, source->tensors, isKnown));
  if (!isKnown)
    return Status::success();
  onnx |= !isSafetensors;
  fileStamps.push_back(std::move(stamp));
  for (const auto &[name, tensor] : source->tensors)
    places[name].push_back(source.get());
  sources.push_back(std::move(source));
  return Status::success();
}

std::string NamedWeights::describe() const {
  std::string text;
  for (const std::unique_ptr<Source> &source : sources)
    text += (text.empty() ? "'" : ", '") + source->file.path() + "'";
  return text;
}

/// Opens external data of an ONNX file once.
Status NamedWeights::openExternal(Source &source, const NamedTensor &tensor,
                                  FileReader *&file) {
  auto [found, isNew] = source.external.try_emplace(tensor.external);
  file = &found->second;
  namespace fs = std::filesystem;
  fs::path folder = fs::path(source.file.path()).parent_path();
  if (isNew) {
    int descriptor = -1;
    uint64_t bytes = 0;
    BeneathLinks links;
    links.follow = true; // who names the model trusts its folder
    Status opened =
        openBeneath(folder.string(), tensor.external, links, descriptor, bytes);
    if (opened.failed()) {
      source.external.erase(found);
      return Status::error("'" + source.file.path() + "': " + opened.message());
    }
    file->adopt(descriptor, int64_t(bytes),
                (folder / tensor.external).string());
    APRT_TRY(file->stamp(fileStamps.emplace_back()));
  }
  return Status::success();
}

Status NamedWeights::findSource(const std::string &name, Source *&source) {
  const std::vector<Source *> &holders = places[name];
  source = holders.front();
  if (holders.size() == 1)
    return Status::success();
  return Status::error("both '" + source->file.path() + "' and '" +
                       holders[1]->file.path() + "' have a tensor '" + name +
                       "'; name one of them by --weights");
}

Status NamedWeights::place(Source &source, const std::string &name,
                           WeightBytes &where) {
  const NamedTensor &tensor = source.tensors.at(name);
  where.file = &source.file;
  where.offset = tensor.offset;
  if (!tensor.external.empty())
    return openExternal(source, tensor, where.file);
  if (!tensor.messageOffset)
    return Status::success();
  auto [bytes, isNew] = converted.try_emplace(name);
  if (isNew)
    if (Status status = readOnnxNumbers(source.file, tensor, bytes->second);
        status.failed())
      return Status::error("'" + source.file.path() + "': tensor '" + name +
                           "': " + status.message());
  bytes->second.reserve(1); // an empty one is somewhere, too
  where.memory = bytes->second.data();
  return Status::success();
}

/// Returns type and shape such as `f16[3,2]`. Unsupported types have the name
/// that their file uses.
static std::string foundText(const NamedTensor &tensor) {
  aprt_dtype dtype = APRT_F32;
  bool isKnown = parseDtype(tensor.dtype, dtype);
  std::string text = describeTensor(dtype, tensor.shape);
  return isKnown ? text : tensor.dtype + text.substr(text.find('['));
}

Status NamedWeights::find(const std::string &name, aprt_dtype dtype,
                          const std::vector<int64_t> &shape,
                          WeightBytes &where) {
  Source *source = nullptr;
  APRT_TRY(findSource(name, source));
  const NamedTensor &tensor = source->tensors.at(name);
  if (tensor.dtype != dtypeName(dtype) || tensor.shape != shape)
    return Status::error("'" + source->file.path() + "': tensor '" + name +
                         "' is " + foundText(tensor) +
                         ", but the program expects " +
                         describeTensor(dtype, shape));
  return place(*source, name, where);
}

Status NamedWeights::checkKnown(const std::vector<KnownTensor> &tensors) {
  for (const KnownTensor &known : tensors) {
    if (!has(known.name))
      continue;
    Source *source = nullptr;
    WeightBytes where;
    APRT_TRY(findSource(known.name, source));
    ContentHash sum;
    if (source->tensors.at(known.name).bytes == known.bytes) {
      APRT_TRY(place(*source, known.name, where));
      std::vector<char> bytes(size_t(known.bytes));
      if (where.memory)
        bytes.assign(where.memory, where.memory + known.bytes);
      else
        APRT_TRY(where.file->read(where.offset, known.bytes, bytes.data()));
      sum.add(bytes.data(), bytes.size());
      if (sum.value() == known.content)
        continue;
    }
    return Status::error(
        "'" + source->file.path() + "': '" + known.name +
        "' has another value than in the model, and the program was compiled "
        "for that value; write this one into the initializer of the model and "
        "compile it again");
  }
  return Status::success();
}

} // namespace autopar::runtime
