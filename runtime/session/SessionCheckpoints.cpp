//===- SessionCheckpoints.cpp - States of a session, saved ----------------===//

#include "../checkpoint/SavedBlocks.h"
#include "Session.h"

namespace autopar::runtime {

Status Session::save(size_t entry, const std::string &folder, int64_t step,
                     int64_t keep, const std::string &iterable) {
  std::lock_guard<std::mutex> lock(saving);
  if (!saves || saves->where() != folder) {
    saves = std::make_unique<CheckpointFolder>(folder);
    Status usable = saves->lock();
    if (std::vector<int64_t> known = saves->steps();
        usable.ok() && !known.empty() && known.front() > resumedStep)
      usable = Status::error("'" + folder + "' has a checkpoint of step " +
                             std::to_string(known.front()) +
                             " already: resume from it, or name another "
                             "folder");
    if (usable.failed()) {
      saves.reset();
      return usable;
    }
  }
  std::vector<StateBlock> blocks;
  for (const ProgramState &state : states(entry))
    blocks.push_back(wholeOf(*state.entry));
  FileImage image;
  APRT_TRY(image.create(blocks));
  for (size_t i = 0; i < blocks.size(); ++i)
    APRT_TRY(readState(entry, i, image.of(i)));
  std::string file;
  APRT_TRY(saves->fileOfRank(step, 0, file));
  Status status = image.write(file);
  if (status.ok())
    status = saves->finish(step, 1,
                           {step,
                            manifest(entry).model,
                            manifest(entry).compiler,
                            "",
                            {},
                            {std::nullopt, std::nullopt, iterable},
                            manifest(entry).hashes},
                           keep);
  if (status.failed())
    saves->drop(step);
  return status;
}

Status Session::resume(size_t entry, const std::string &path,
                       const std::vector<std::string> &ignoring, int64_t &step,
                       std::vector<std::string> &notes) {
  Checkpoint checkpoint;
  APRT_TRY(openCheckpoint(path, /*readsAll=*/true, checkpoint, notes));
  for (const std::string &role : ignoring)
    APRT_TRY(leaveOutRole(checkpoint, role));
  APRT_TRY(checkStates(checkpoint, manifest(entry)));
  for (std::string doubt :
       {doubtOfHashes(checkpoint, manifest(entry)), doubtOfNumbers(checkpoint)})
    if (!doubt.empty())
      notes.push_back(std::move(doubt));
  for (size_t i = 0; i < states(entry).size(); ++i) {
    StateBlock whole = wholeOf(*states(entry)[i].entry);
    if (checkpoint.isLeftOut(whole.key))
      continue;
    ArrayBytes bytes(size_t(whole.bytes()));
    APRT_TRY(checkpoint.copy(whole.key, whole.intervals(), bytes.data()));
    APRT_TRY(writeState(entry, i, bytes.data()));
  }
  APRT_TRY(checkpoint.checkFiles());
  step = resumedStep = checkpoint.step();
  iterable = checkpoint.about().place.iterable;
  return Status::success();
}

} // namespace autopar::runtime
