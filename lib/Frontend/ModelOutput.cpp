//===- ModelOutput.cpp - Where a copy of a model is written ---------------===//

#include "ModelOutput.h"
#include "autopar/Support/Output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace autopar {

/// External data of at least a page begin at one, so that readers can map them.
static constexpr uint64_t kPage = 4096, kLine = 64;

static Error error(const Twine &message) { return createStringError(message); }

/// A file that the model is read from is not replaced. `isAlone`: no other file
/// belongs to it, so that it may be a device or a link.
Error ModelOutput::checkPlace(const std::string &file, bool isAlone) const {
  runtime::OutputPlace place;
  if (Error failed = toError(runtime::findOutput(file, place)))
    return failed;
  bool isPlain = place.kind == runtime::OutputPlace::Regular;
  if (!isAlone && (!isPlain || place.path != file))
    return error("'" + file +
                 "' is no plain file: the model has external data, which are "
                 "written beside it; name a file");
  if (!isPlain)
    return Error::success();
  if (sys::fs::equivalent(place.path, model.path))
    return error("'" + file + "' is the model that is read; name another file");
  StringSet<> seen;
  for (const auto &entry : model.tensors) {
    const OnnxTensor &tensor = entry.getValue();
    if (tensor.place != OnnxTensor::External ||
        !seen.insert(tensor.file).second)
      continue;
    SmallString<128> stored(model.folder);
    sys::path::append(stored, tensor.file);
    if (sys::fs::equivalent(place.path, stored))
      return error("'" + file + "' has weights of the model that is read ('" +
                   model.path + "'); name another file");
  }
  return Error::success();
}

Error ModelOutput::open(bool hasData) {
  if (StringRef(path).ends_with(".gz"))
    return error("'" + path + "': the copy is not packed; name it .onnx");
  if (hasData)
    data = path + ".data";
  if (Error failed = checkPlace(path, /*isAlone=*/!hasData))
    return failed;
  runtime::OutputPlace place;
  if (Error failed = toError(runtime::findOutput(path, place)))
    return failed;
  isDurable = place.kind == runtime::OutputPlace::Regular;
  if (hasData) {
    if (Error failed = checkPlace(data, /*isAlone=*/false))
      return failed;
    if (Error failed = toError(dataFile.open(data)))
      return failed;
  }
  return toError(modelFile.open(path));
}

Error ModelOutput::append(const std::string &bytes, uint64_t &at) {
  uint64_t end = uint64_t(dataFile.position());
  at = alignTo(end, bytes.size() < kPage ? kLine : kPage);
  std::string zeros(at - end, 0);
  if (Error failed =
          toError(dataFile.write(zeros.data(), int64_t(zeros.size()))))
    return failed;
  return toError(dataFile.write(bytes.data(), int64_t(bytes.size())));
}

Error ModelOutput::finish(const std::string &message) {
  if (Error failed =
          toError(modelFile.write(message.data(), int64_t(message.size()))))
    return failed;
  if (!data.empty())
    if (Error failed = toError(dataFile.commit(isDurable)))
      return failed;
  return toError(modelFile.commit(isDurable));
}

} // namespace autopar
