//===- SessionSteps.cpp - Steps and states of a session -------------------===//

#include "../core/Futex.h"
#include "../core/Hyperparameters.h"
#include "IndexCheck.h"
#include "Session.h"

#include <cstring>

namespace autopar::runtime {

Status Session::checkInputs(size_t entry, const void *const *inputs) const {
  const std::vector<Port> &ports = manifest(entry).inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!inputs[i] && ports[i].countsRows)
      continue;
    if (!inputs[i] && ports[i].globalBytes > 0)
      return Status::error("input '" + ports[i].name + "' is missing");
    APRT_TRY(checkIndices(ports[i], inputs[i], /*steps=*/0));
  }
  return Status::success();
}

void Session::stepAlone(const void *const *inputs, const Request &request) {
  StepData &step = data[request.entry];
  const std::vector<Port> &ports = manifest(request.entry).inputs;
  for (size_t i = 0; i < step.inputs.size(); ++i)
    step.inputs[i] = inputs[i] ? static_cast<const char *>(inputs[i])
                     : ports[i].countsRows ? allRows(ports[i])
                                           : "";
  for (size_t i = 0; i < request.outputs.size(); ++i)
    step.results[i].data = static_cast<char *>(request.outputs[i]);
}

/// All rows count where nobody says which.
const char *Session::allRows(const Port &port) {
  if (int64_t(ones.size()) < port.globalBytes)
    ones.assign(size_t(port.globalBytes), 1);
  return ones.data();
}

void Session::fillSlot(const void *const *inputs, const Request &request) {
  BoardSlot &slot = board.slot(request.number);
  const std::vector<Port> &ports = manifest(request.entry).inputs;
  for (size_t i = 0; i < ports.size(); ++i)
    if (char *to = slot.input(request.entry, i); inputs[i] && inputs[i] != to)
      std::memcpy(to, inputs[i], size_t(ports[i].globalBytes));
    else if (!inputs[i] && ports[i].countsRows)
      std::memset(to, 1, size_t(ports[i].globalBytes));
  for (size_t i = 0; i < request.outputs.size(); ++i)
    slot.want(request.entry, i, request.outputs[i] != nullptr);
}

void Session::note(Request &request, size_t entry, void *const *outputs) {
  std::lock_guard<std::mutex> lock(records);
  request.number = nextTask();
  request.entry = entry;
  request.isUnderWay = true;
  request.isAwaited = false;
  request.start = monotonicSeconds();
  request.outputs.assign(outputs, outputs + manifest(entry).outputs.size());
}

/// Rank 0 does its part here, if it is not a worker.
Status Session::begin(size_t entry, const void *const *inputs,
                      void *const *outputs, Request &request) {
  note(request, entry, outputs);
  if (!workers) {
    ++steps;
    stepAlone(inputs, request);
    return member->step(entry, data[entry]);
  }
  fillSlot(inputs, request);
  uint32_t number = 0; // the request's
  APRT_TRY(tell(Task::Step, entry, 0, number));
  return member ? member->follow(board, number) : Status::success();
}

void Session::finish(Request &request) {
  for (size_t i = 0; workers && i < request.outputs.size(); ++i) {
    const Port &port = manifest(request.entry).outputs[i];
    const char *from = board.slot(request.number).output(request.entry, i);
    if (void *to = request.outputs[i]; to && to != from)
      std::memcpy(to, from, size_t(port.globalBytes));
  }
  std::lock_guard<std::mutex> lock(records);
  measure(request);
  request.isUnderWay = false;
}

Status Session::run(size_t entry, const void *const *inputs,
                    void *const *outputs) {
  APRT_TRY(checkInputs(entry, inputs));
  return serve("running a step", [&]() -> Status {
    Request &request = requestOf(nextTask());
    APRT_TRY(begin(entry, inputs, outputs, request));
    APRT_TRY(awaitWorkers(request.number + 1));
    finish(request);
    return Status::success();
  });
}

Status Session::submit(size_t entry, const void *const *inputs,
                       void *const *outputs, int64_t &ticket) {
  APRT_TRY(checkInputs(entry, inputs));
  return serve("beginning a step", [&]() -> Status {
    Request &request = requestOf(nextTask());
    APRT_TRY(begin(entry, inputs, outputs, request));
    ticket = request.number;
    return Status::success();
  });
}

Status Session::claim(Request &request, uint32_t number) {
  std::lock_guard<std::mutex> lock(records);
  if (!failure.empty())
    return Status::error(failure);
  if (!request.isUnderWay || request.isAwaited || request.number != number)
    return Status::error("no step with ticket " + std::to_string(number) +
                         " is under way, or another call waits for it");
  request.isAwaited = true;
  return Status::success();
}

/// Other threads may begin steps meanwhile, for which rank 0 needs this core.
Status Session::wait(int64_t ticket) {
  uint32_t number = uint32_t(ticket);
  Request &request = requestOf(number);
  APRT_TRY(claim(request, number));
  Status status = guardMemory("waiting for a step", [&] {
    return awaitWorkers(number + 1, Patience::sharedCore());
  });
  if (status.failed()) {
    std::lock_guard<std::mutex> lock(calls); // rank 0 is in no step
    return fail(status);
  }
  finish(request);
  return Status::success();
}

char *Session::sharedInput(size_t entry, size_t index) {
  return sharesTensors() ? board.slot(0).input(entry, index) : nullptr;
}

char *Session::sharedOutput(size_t entry, size_t index) {
  return sharesTensors() ? board.slot(0).output(entry, index) : nullptr;
}

size_t Session::ownerOf(size_t entry, size_t index) const {
  const PersistentEntry &state = *states(entry)[index].entry;
  for (size_t other = 0; other < entry; ++other)
    for (const ProgramState &theirs : states(other))
      if (groups[other] == groups[entry] && theirs.entry->name == state.name &&
          theirs.entry->role == state.role)
        return other;
  return entry;
}

static Status noSuchState(size_t index) {
  return Status::error("there is no state number " + std::to_string(index));
}

Status Session::readState(size_t entry, size_t index, void *to) {
  if (index >= states(entry).size())
    return noSuchState(index);
  return serve("reading a state", [&]() -> Status {
    if (!workers)
      return member->readState(entry, index, to);
    APRT_TRY(have(Task::ReadState, entry, index));
    std::memcpy(to, board.state(),
                size_t(states(entry)[index].entry->globalBytes));
    return Status::success();
  });
}

Status Session::writeState(size_t entry, size_t index, const void *from) {
  if (index >= states(entry).size())
    return noSuchState(index);
  APRT_TRY(checkState(*states(entry)[index].entry, from));
  return serve("writing a state", [&]() -> Status {
    if (!workers)
      return member->writeState(entry, index, from);
    std::memcpy(board.state(), from,
                size_t(states(entry)[index].entry->globalBytes));
    return have(Task::WriteState, entry, index);
  });
}

} // namespace autopar::runtime
