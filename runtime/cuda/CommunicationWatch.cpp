//===- CommunicationWatch.cpp - How far communication is ------------------===//

#include "CommunicationWatch.h"

#include "../core/Futex.h"

#include <cstring>

namespace autopar::runtime {

static constexpr int kWords = 1 + 2 * RankProgress::maxStreams;

static int begunWord(int stream) { return 1 + 2 * stream; }

Status CommunicationWatch::create() {
  int64_t bytes = kWords * int64_t(sizeof(uint32_t));
  APRT_TRY(words.reserve(bytes, "the progress of communication"));
  std::memset(words.data(), 0, size_t(bytes));
  APRT_CUDA(context.driver, cuMemHostGetDevicePointer_v2, &base, words.data(),
            0);
  return Status::success();
}

Status CommunicationWatch::write(int index, uint32_t value, CUstream stream,
                                 int words) {
  APRT_CUDA(context.driver, cuMemsetD32Async, word(index), value, size_t(words),
            stream);
  return Status::success();
}

Status CommunicationWatch::currentSlot(int &slot) const {
  int op = context.currentOp();
  bool known = op >= 0 && size_t(op) < context.manifest.ops.size();
  int64_t stream = known ? context.manifest.ops[size_t(op)].stream : 0;
  if (stream >= RankProgress::maxStreams)
    return Status::error(
        "communication on stream " + std::to_string(stream) + ", but at most " +
        std::to_string(RankProgress::maxStreams) + " streams may have some");
  slot = int(stream);
  return Status::success();
}

/// The numbers of the last micro-batch, whose work stream 0 has waited for, are
/// no longer true. Other streams wait for that, so that a program that lacks an
/// event is told of its own memory.
Status CommunicationWatch::beginStep() {
  count = 0;
  CUstream stream = context.stream(0);
  APRT_TRY(write(begunWord(0), 0, stream, kWords - 1));
  APRT_TRY(write(0, ++steps, stream));
  APRT_TRY(begun.record(stream));
  for (int64_t other = 1; other < context.streamCount(); ++other)
    APRT_TRY(begun.makeWait(context.stream(other)));
  return Status::success();
}

Status CommunicationWatch::begin(Operation operation) {
  int slot = 0;
  APRT_TRY(currentSlot(slot));
  if (operations.size() <= count)
    operations.resize(count + 1);
  operations[count] = std::move(operation);
  ++count;
  newestSlot = slot;
  return write(begunWord(slot), count, context.currentStream());
}

Status CommunicationWatch::end() {
  int slot = 0;
  APRT_TRY(currentSlot(slot));
  return write(begunWord(slot) + 1, count, context.currentStream());
}

RankProgress CommunicationWatch::progress() const {
  RankProgress progress;
  auto *read = reinterpret_cast<const volatile uint32_t *>(words.data());
  progress.step = read[0];
  for (int s = 0; s < RankProgress::maxStreams; ++s) {
    progress.done[size_t(s)] = read[begunWord(s) + 1];
    progress.begun[size_t(s)] = read[begunWord(s)];
  }
  return progress;
}

const CommunicationWatch::Operation *
CommunicationWatch::current(const RankProgress &progress, int &stream) const {
  for (size_t s = 0; s < progress.begun.size(); ++s) {
    uint32_t number = progress.begun[s];
    if (number == progress.done[s] || number == 0 || number > operations.size())
      continue;
    stream = int(s);
    return &operations[number - 1];
  }
  return nullptr;
}

const CommunicationWatch::Operation *
CommunicationWatch::newest(RankProgress &progress, int &stream) const {
  if (count == 0)
    return nullptr;
  stream = newestSlot;
  progress.step = steps;
  progress.begun[size_t(stream)] = count;
  return &operations[count - 1];
}

bool CommunicationWatch::isStuck(const RankProgress &progress, double seconds) {
  int stream = 0;
  bool same = since >= 0 && progress.step == seen.step &&
              progress.begun == seen.begun && progress.done == seen.done;
  if (!same || !current(progress, stream)) {
    seen = progress;
    since = monotonicSeconds();
    return false;
  }
  return monotonicSeconds() - since > seconds;
}

} // namespace autopar::runtime
