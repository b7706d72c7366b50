//===- TrainingTrail.cpp - What a training leaves behind ------------------===//

#include "TrainingTrail.h"
#include "autopar/Support/Output.h"
#include "checkpoint/CheckpointFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace autopar::driver {

/// The JSON object of a text; nothing for any other text.
static std::optional<json::Object> parseObject(StringRef text) {
  auto value = json::parse(text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  json::Object *object = value->getAsObject();
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

RunFailure readFailure(StringRef path) {
  RunFailure failure;
  auto buffer = MemoryBuffer::getFile(path);
  std::optional<json::Object> told =
      buffer ? parseObject((*buffer)->getBuffer()) : std::nullopt;
  if (!told)
    return failure;
  failure.message = told->getString("message").value_or("");
  failure.target = told->getString("target").value_or("");
  failure.rank = told->getInteger("rank").value_or(-1);
  failure.ranks = told->getInteger("ranks").value_or(0);
  failure.steps = told->getInteger("steps").value_or(-1);
  failure.hasEnded = told->getBoolean("has_ended").value_or(false);
  return failure;
}

TrainingTrail::TrainingTrail(std::string folder, std::string path)
    : folder(std::move(folder)) {
  if (!path.empty() && !goesToStdout(path))
    log = std::move(path);
}

int64_t TrainingTrail::savedStep() const {
  std::vector<int64_t> steps = runtime::CheckpointFolder(folder).steps();
  return steps.empty() ? -1 : steps.front();
}

/// The bytes of the log's lines of steps before `end`; `steps`: how many steps
/// it tells of in all.
int64_t TrainingTrail::bytesOfSteps(int64_t end, int64_t &steps) const {
  int64_t bytes = 0;
  steps = 0;
  auto buffer = MemoryBuffer::getFile(log, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false,
                                      /*IsVolatile=*/true);
  if (log.empty() || !buffer)
    return 0;
  for (StringRef rest = (*buffer)->getBuffer(); rest.contains('\n');) {
    auto [line, after] = rest.split('\n');
    std::optional<json::Object> told = parseObject(line);
    int64_t step = told ? told->getInteger("step").value_or(-1) : -1;
    steps = std::max(steps, step + 1);
    if (step < end)
      bytes += int64_t(line.size()) + 1;
    rest = after;
  }
  return bytes;
}

std::string TrainingTrail::textOfRestart() const {
  int64_t saved = savedStep(), taken = 0;
  std::string text =
      saved < 0 ? "from its beginning" : "from step " + std::to_string(saved);
  bytesOfSteps(0, taken);
  if (log.empty())
    return text;
  int64_t again = std::max<int64_t>(0, taken - std::max<int64_t>(0, saved));
  return text + ", " + std::to_string(again) +
         (again == 1 ? " step is" : " steps are") + " taken again";
}

std::string TrainingTrail::mark() const {
  int64_t taken = 0;
  bytesOfSteps(0, taken);
  return std::to_string(savedStep()) + "/" + std::to_string(taken);
}

/// Bytes of a file; 0 if there is none.
static int64_t sizeOf(StringRef path) {
  uint64_t size = 0;
  return sys::fs::file_size(path, size) ? 0 : int64_t(size);
}

void TrainingTrail::awaitStep() {
  int64_t taken = 0;
  keptBytes = bytesOfSteps(std::max<int64_t>(0, savedStep()), taken);
  oldBytes = sizeOf(log);
  isCut = oldBytes <= keptBytes;
}

bool TrainingTrail::hasStep() {
  if (log.empty())
    return false;
  int64_t size = sizeOf(log);
  isCut = isCut || size != oldBytes;
  return isCut && size > keptBytes;
}

} // namespace autopar::driver
