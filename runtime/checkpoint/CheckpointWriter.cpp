//===- CheckpointWriter.cpp - Saving while steps go on --------------------===//

#include "CheckpointWriter.h"

#include "../core/MemoryGuard.h"
#include "../core/QuietThread.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace autopar::runtime {

Status CheckpointBoard::create(int ranks, SharedMemory &shared) {
  count = ranks;
  APRT_TRY(shared.take(ranks * int64_t(sizeof(Rank)), "what ranks have saved",
                       memory));
  for (int rank = 0; shared.isNew() && rank < ranks; ++rank)
    new (&of(rank)) Rank();
  APRT_TRY(
      shared.take(sizeof(std::atomic<int64_t>), "when ranks save", dueMemory));
  if (shared.isNew())
    new (dueMemory.data()) std::atomic<int64_t>(-1);
  return Status::success();
}

CheckpointWriter::CheckpointWriter(const CheckpointFolder &folder,
                                   CheckpointBoard &board,
                                   const Manifest &manifest, int rank,
                                   int64_t keep, std::atomic<uint32_t> &aborted)
    : folder(folder), board(board), manifest(manifest), rank(rank), keep(keep),
      aborted(aborted), blocks(blocksOfRank(manifest, rank)),
      usualNice(getpriority(PRIO_PROCESS, 0)) {
  begin([this] { takeMemory(); });
}

CheckpointWriter::~CheckpointWriter() { finish(); }

/// Steps beside the thread that writes come first, until they wait for it.
void CheckpointWriter::stepBack() {
  constexpr int nicer = 10, nicest = 19;
  number.store(gettid());
  setpriority(PRIO_PROCESS, id_t(gettid()),
              std::min(usualNice + nicer, nicest));
  if (isAwaited.load())
    setpriority(PRIO_PROCESS, id_t(gettid()), usualNice);
}

/// Steps stand still now: the thread gets their priority, where the system
/// allows that.
void CheckpointWriter::finish() {
  if (!thread.joinable())
    return;
  isAwaited.store(true);
  if (pid_t writing = number.load())
    setpriority(PRIO_PROCESS, id_t(writing), usualNice);
  thread.join();
}

void CheckpointWriter::begin(const std::function<void()> &work) {
  isAwaited.store(false);
  number.store(0);
  thread = startQuietThread(work);
}

/// Steps shall not wait for the system to give the first copy its pages.
void CheckpointWriter::takeMemory() {
  memory = guardMemory("taking memory for checkpoints", [this] {
    std::vector<StateBlock> boxes;
    for (const SavedBlock &saved : blocks)
      boxes.push_back(saved.block);
    APRT_TRY(image.create(boxes));
    std::memset(image.data(), 0, size_t(image.size()));
    return Status::success();
  });
}

Status CheckpointWriter::save(int64_t step, const Read &read,
                              const TrainingPlace &place) {
  finish();
  APRT_TRY(memory);
  for (size_t i = 0; i < blocks.size(); ++i)
    APRT_TRY(read(blocks[i], image.of(i)));
  last = step;
  lastPlace = place;
  begin([this, step] { write(step); });
  return Status::success();
}

Status CheckpointWriter::writeOwn(int64_t step) {
  std::string file;
  APRT_TRY(folder.fileOfRank(step, rank, file));
  return image.write(file);
}

/// Waits until each rank has written or failed; fails with the message of the
/// first that did. A rank may be at the save after it already.
Status CheckpointWriter::awaitAll(int64_t step) const {
  std::string message;
  for (int other = 0; other < board.ranks(); ++other) {
    CheckpointBoard::Rank &theirs = board.of(other);
    while (theirs.written.load() < step && theirs.failed.load() < step) {
      if (aborted.load())
        return Status::error("the run ended while it was written");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    bool isThere = theirs.written.load() >= step;
    if ((!isThere || theirs.failed.load() == step) && message.empty())
      message = theirs.message;
  }
  return message.empty() ? Status::success() : Status::error(message);
}

static std::string meshText(const Manifest &manifest) {
  std::string text;
  for (const MeshAxis &axis : manifest.mesh)
    text +=
        (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text + (manifest.stages > 1
                     ? " x " + std::to_string(manifest.stages) + " stages"
                     : "");
}

void CheckpointWriter::write(int64_t step) {
  stepBack();
  CheckpointBoard::Rank &mine = board.of(rank);
  auto fail = [&](const Status &status) {
    std::snprintf(mine.message, sizeof(mine.message), "%s",
                  status.message().c_str());
    mine.failed.store(step);
  };
  Status status =
      guardMemory("writing a checkpoint", [&] { return writeOwn(step); });
  if (status.failed())
    fail(status);
  else
    mine.written.store(step);
  if (rank != 0)
    return;
  status = awaitAll(step);
  if (status.ok())
    status = guardMemory("finishing a checkpoint", [&] {
      return folder.finish(step, board.ranks(),
                           {step,
                            manifest.model,
                            manifest.compiler,
                            meshText(manifest),
                            {},
                            lastPlace,
                            manifest.hashes},
                           keep);
    });
  if (status.ok())
    return;
  folder.drop(step);
  fail(status);
  std::fprintf(stderr,
               "warning: the checkpoint of step %lld is not written: %s%s\n",
               static_cast<long long>(step), status.message().c_str(),
               aborted.load() ? "" : "; the training goes on");
}

} // namespace autopar::runtime
