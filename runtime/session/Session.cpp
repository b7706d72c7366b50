//===- Session.cpp - A program that stays ---------------------------------===//

#include "Session.h"

#include "../core/MemoryGuard.h"
#include "IndexCheck.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

namespace autopar::runtime {

/// For ranks that were told to end.
static constexpr double graceSeconds = 3;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static std::string quoteEntries(const std::vector<Program> &programs) {
  std::string text;
  for (const Program &program : programs)
    text += (text.empty() ? "'" : ", '") + program.manifest.entry + "'";
  return text;
}

static Status findEntry(const std::vector<Program> &programs,
                        const std::string &name, size_t &chosen) {
  for (chosen = 0; chosen < programs.size(); ++chosen)
    if (name.empty() || programs[chosen].manifest.entry == name)
      return Status::success();
  return Status::error("no entry is called '" + name +
                       "'; the entries: " + quoteEntries(programs));
}

/// Workers may be in another folder.
static std::string fromRoot(const std::string &path) {
  return path.empty() ? "" : std::filesystem::absolute(path).string();
}

Status Session::chooseProgram(const std::string &path, WorkerSetup &setup) {
  std::vector<Program> programs;
  size_t chosen = 0;
  Status status = loadPrograms(path, programs);
  if (status.ok())
    status = findEntry(programs, options.entry, chosen);
  if (status.ok())
    status = keepProgram(programs, chosen);
  if (status.failed()) {
    for (Program &other : programs)
      unloadProgram(other);
    return status;
  }
  program = std::move(programs[chosen]);
  setup.first = program.manifest.target == Target::Cpu ? 1 : 0;
  setup.entry = chosen;
  setup.checksum = program.checksum;
  setup.weights = fromRoot(options.weights);
  setup.options = options;
  return Status::success();
}

Status Session::startRanks(const std::string &path, const WorkerSetup &setup) {
  bool isOfCpus = program.manifest.target == Target::Cpu;
  bool isAlone = isOfCpus && program.manifest.worldSize() == 1;
  if (!isAlone)
    APRT_TRY(shared.createFile());
  APRT_TRY(world.create(shared));
  if (!isAlone) {
    APRT_TRY(board.create(program.manifest, shared));
    workers = std::make_unique<Workers>(world);
    APRT_TRY(workers->start(fromRoot(path), setup, shared));
  }
  if (isOfCpus) {
    WeightFiles weights;
    APRT_TRY(weights.open(program.manifest, program.home, options.weights));
    member = std::make_unique<Member>(world, 0);
    APRT_TRY(member->load(std::move(weights), isAlone ? nullptr : &board));
  }
  return awaitWorkers(1);
}

Status Session::load(const std::string &path) {
  WorkerSetup setup;
  APRT_TRY(chooseProgram(path, setup));
  kept = programStates(program.manifest);
  data = emptyStep(program.manifest);
  return serve("loading the program", [&] { return startRanks(path, setup); });
}

Status Session::open(const std::string &path, const SessionOptions &options,
                     std::unique_ptr<Session> &session) {
  std::unique_ptr<Session> made(new Session(options));
  APRT_TRY(made->load(path));
  session = std::move(made);
  return Status::success();
}

Session::~Session() {
  if (getpid() != owner) {
    (void)workers.release();
    (void)member.release(); // its threads are not in this process
    return;
  }
  if (failure.empty() && (member || workers))
    (void)have(Task::End);
  if (workers)
    workers->end(failure.empty() ? graceSeconds : 0);
  workers.reset();
  member.reset(); // before the code that it calls
  unloadProgram(program);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The failure that came first, on whichever rank.
std::string Session::causeOf(const Status &status) {
  int first = world.isThere() ? world.firstFailure().load() : -1;
  if (first >= 0 && world.record(first).failed.load())
    return world.record(first).message;
  std::string death = workers ? workers->death() : "";
  return death.empty() ? status.message() : death;
}

template <typename Body>
Status Session::serve(const char *doing, const Body &body) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure.empty())
    return Status::error("the session ended when a call failed: " + failure);
  Status status = guardMemory(doing, body);
  if (status.ok())
    return status;
  if (member)
    member->fail(status);
  failure = causeOf(status);
  return Status::error(failure);
}

/// The others have as long as waits for a rank may take, once rank 0 is done. A
/// rank 0 that is a worker waits for the others itself.
Status Session::awaitWorkers(uint32_t number) {
  if (!workers)
    return Status::success();
  Waiter waiter(world.fabric.aborted(), options.timeoutSeconds,
                world.spin ? Patience::ownCore() : Patience::sharedCore());
  double waited = 0;
  for (int rank = workers->first(); rank < world.worldSize(); ++rank)
    switch (waiter.wait(board.done(rank), number,
                        /*withDeadline=*/member != nullptr, waited)) {
    case WaitResult::Reached:
      break;
    case WaitResult::Aborted:
      return abortedStatus();
    case WaitResult::TimedOut:
      return Status::error(missingRanks({rank}, options.timeoutSeconds));
    }
  return Status::success();
}

Status Session::have(Task task, size_t index) {
  if (!workers) // rank 0 has what the board would have
    return task == Task::End ? member->end() : member->step(data);
  uint32_t number = board.tell(task, int64_t(index));
  if (member)
    APRT_TRY(member->follow(board));
  return awaitWorkers(number + 1);
}

Status Session::checkInputs(const void *const *inputs) const {
  for (size_t i = 0; i < program.manifest.inputs.size(); ++i) {
    const Port &port = program.manifest.inputs[i];
    if (!inputs[i] && port.globalBytes > 0)
      return Status::error("input '" + port.name + "' is missing");
    APRT_TRY(checkIndices(port, inputs[i], /*steps=*/0));
  }
  return Status::success();
}

Status Session::runAlone(const void *const *inputs, void *const *outputs) {
  for (size_t i = 0; i < data.inputs.size(); ++i)
    data.inputs[i] = inputs[i] ? static_cast<const char *>(inputs[i]) : "";
  for (size_t i = 0; i < program.manifest.outputs.size(); ++i)
    data.results[i].data = static_cast<char *>(outputs[i]);
  return have(Task::Step);
}

Status Session::runOnAll(const void *const *inputs, void *const *outputs) {
  const Manifest &manifest = program.manifest;
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    if (inputs[i])
      std::memcpy(board.input(i), inputs[i],
                  size_t(manifest.inputs[i].globalBytes));
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    board.want(i, outputs[i] != nullptr);
  APRT_TRY(have(Task::Step));
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    if (outputs[i])
      std::memcpy(outputs[i], board.output(i),
                  size_t(manifest.outputs[i].globalBytes));
  return Status::success();
}

Status Session::run(const void *const *inputs, void *const *outputs) {
  APRT_TRY(checkInputs(inputs));
  return serve("running a step", [&] {
    return workers ? runOnAll(inputs, outputs) : runAlone(inputs, outputs);
  });
}

static Status noSuchState(size_t index) {
  return Status::error("there is no state number " + std::to_string(index));
}

Status Session::readState(size_t index, void *to) {
  if (index >= kept.size())
    return noSuchState(index);
  return serve("reading a state", [&]() -> Status {
    if (!workers)
      return member->readState(index, to);
    APRT_TRY(have(Task::ReadState, index));
    std::memcpy(to, board.state(), size_t(kept[index].entry->globalBytes));
    return Status::success();
  });
}

Status Session::writeState(size_t index, const void *from) {
  if (index >= kept.size())
    return noSuchState(index);
  return serve("writing a state", [&]() -> Status {
    if (!workers)
      return member->writeState(index, from);
    std::memcpy(board.state(), from, size_t(kept[index].entry->globalBytes));
    return have(Task::WriteState, index);
  });
}

} // namespace autopar::runtime
