//===- Member.cpp - A rank of a session -----------------------------------===//

#include "Member.h"

#include <algorithm>
#include <utility>

namespace autopar::runtime {

StepData emptyStep(const Manifest &manifest) {
  StepData data;
  data.inputs.resize(manifest.inputs.size());
  data.results.resize(resultPorts(manifest).size());
  return data;
}

Status Member::load(WeightFiles weights, Board *board) {
  const Manifest &manifest = world.program.manifest;
  APRT_TRY(rank.open());
  APRT_TRY(rank.load(std::move(weights), /*states=*/nullptr));
  data = emptyStep(manifest);
  // The outputs are the first results.
  std::vector<bool> wanted(data.results.size());
  std::fill_n(wanted.begin(), manifest.outputs.size(), true);
  APRT_TRY(rank.prepare(wanted));
  if (board)
    board->source(worldRank) = rank.source();
  APRT_TRY(rank.context()->transport->barrier(/*withDeadline=*/false));
  if (board && board->source(worldRank) != board->source(0))
    return Status::error("the files of the weights are others than those that "
                         "rank 0 has read: they were replaced meanwhile");
  return rank.checkFiles();
}

Status Member::step(const StepData &step) {
  APRT_TRY(rank.feed(step));
  return rank.step(step, /*next=*/nullptr);
}

Status Member::readState(size_t state, void *whole) {
  int index = indexOf(state);
  return index < 0 ? Status::success() : rank.readState(index, whole);
}

Status Member::writeState(size_t state, const void *whole) {
  int index = indexOf(state);
  return index < 0 ? Status::success() : rank.writeState(index, whole);
}

Status Member::follow(Board &board) {
  switch (board.task()) {
  case Task::Step:
    for (size_t i = 0; i < data.inputs.size(); ++i)
      data.inputs[i] = board.input(i);
    for (size_t i = 0; i < world.program.manifest.outputs.size(); ++i)
      data.results[i].data = board.isWanted(i) ? board.output(i) : nullptr;
    return step(data);
  case Task::ReadState:
    return readState(size_t(board.index()), board.state());
  case Task::WriteState:
    return writeState(size_t(board.index()), board.state());
  case Task::End:
    return end();
  }
  return Status::error("unknown task");
}

} // namespace autopar::runtime
