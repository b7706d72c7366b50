//===- Session.cpp - A program that stays ---------------------------------===//

#include "Session.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace autopar::runtime {

/// The time that ranks have to end after they were told to.
static constexpr double graceSeconds = 3;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static std::string quoteEntries(const std::vector<Program> &programs) {
  std::string text;
  for (const Program &program : programs)
    if (std::string name = "'" + program.manifest.entry + "'";
        text.find(name) == std::string::npos)
      text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Finds the entries for that number of ranks, or the one of them with that
/// name.
static Status findEntries(const std::vector<Program> &programs,
                          const SessionOptions &options,
                          std::vector<size_t> &chosen) {
  const std::string &name = options.entry;
  int64_t ranks = options.ranks;
  if (ranks != 0)
    APRT_TRY(checkRanks(programs, ranks));
  for (size_t i = 0; i < programs.size(); ++i) {
    const Manifest &manifest = programs[i].manifest;
    if (!name.empty() && manifest.entry != name)
      continue;
    if (ranks == 0)
      ranks = manifest.worldSize();
    if (manifest.worldSize() == ranks)
      chosen.push_back(i);
  }
  if (!chosen.empty())
    return Status::success();
  if (programs.size() == 1 && programs.front().manifest.entry.empty())
    return Status::error("no entry is called '" + name +
                         "': the program has one entry, which has no name; "
                         "leave the entry out");
  return Status::error(
      "no entry" +
      (options.ranks ? " for " + std::to_string(ranks) + " ranks" : "") +
      " is called '" + name + "'; the entries: " + quoteEntries(programs));
}

/// Workers may be in another folder.
static std::string fromRoot(const std::string &path) {
  return path.empty() ? "" : std::filesystem::absolute(path).string();
}

/// Fails if entries are only for other numbers of ranks, because one set of
/// ranks runs all entries.
static Status checkLeftOut(const std::vector<Program> &programs,
                           const std::vector<size_t> &chosen) {
  const Manifest &first = programs[chosen.front()].manifest;
  for (const Program &program : programs) {
    const Manifest &other = program.manifest;
    if (std::none_of(chosen.begin(), chosen.end(), [&](size_t i) {
          return programs[i].manifest.entry == other.entry;
        }))
      return Status::error(
          "the program's entries are for different ranks: '" + first.entry +
          "' has " + std::to_string(first.worldSize()) + ", '" + other.entry +
          "' has " + std::to_string(other.worldSize()) +
          "; name the entry or the number of ranks that you want when you "
          "open it");
  }
  return Status::success();
}

Status Session::choosePrograms(const std::string &path, WorkerSetup &setup) {
  APRT_TRY(loadPrograms(path, programs));
  APRT_TRY(findEntries(programs, options, setup.entries));
  if (options.entry.empty() && options.ranks == 0)
    APRT_TRY(checkLeftOut(programs, setup.entries));
  APRT_TRY(keepPrograms(programs, setup.entries));
  for (const Program &program : programs) {
    setup.checksums.push_back(program.checksum);
    kept.push_back(programStates(program.manifest));
    data.push_back(emptyStep(program.manifest));
  }
  setup.first = programs.front().manifest.target == Target::Cpu ? 1 : 0;
  setup.weights = fromRoot(options.weights);
  setup.options = options;
  return Status::success();
}

Status Session::startRanks(const std::string &path, const WorkerSetup &setup) {
  const Manifest &first = programs.front().manifest;
  bool isOfCpus = first.target == Target::Cpu;
  bool isAlone = isOfCpus && first.worldSize() == 1;
  if (!isAlone)
    APRT_TRY(shared.createFile());
  APRT_TRY(makeWorlds(programs, options, shared, worlds));
  groups = groupsOfStates(manifestsOf(worlds));
  if (!isAlone) {
    APRT_TRY(board.create(manifestsOf(worlds), shared));
    workers = std::make_unique<Workers>(*worlds.front());
    APRT_TRY(workers->start(fromRoot(path), setup, shared));
  }
  if (isOfCpus) {
    std::vector<WeightFiles> weights;
    APRT_TRY(openWeights(programs, options.weights, weights));
    member = std::make_unique<Member>(worlds, 0);
    APRT_TRY(member->load(std::move(weights), isAlone ? nullptr : &board));
  }
  underWay.resize(workers ? board.slots() : 1);
  measured.resize(programs.size());
  return awaitWorkers(1);
}

Status Session::load(const std::string &path) {
  WorkerSetup setup;
  APRT_TRY(choosePrograms(path, setup));
  return attempt("loading the program",
                 [&] { return startRanks(path, setup); });
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
    (void)endRanks();
  if (workers)
    workers->end(failure.empty() ? graceSeconds : 0);
  workers.reset();
  member.reset(); // before the code that it calls
  worlds.clear();
  for (Program &program : programs)
    unloadProgram(program);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Returns the first failure of any rank.
std::string Session::causeOf(const Status &status) {
  bool isThere = !worlds.empty() && worlds.front()->isThere();
  int first = isThere ? worlds.front()->firstFailure().load() : -1;
  if (first >= 0 && worlds.front()->record(first).failed.load())
    return worlds.front()->record(first).message;
  std::string death = workers ? workers->death() : "";
  return death.empty() ? status.message() : death;
}

Status Session::fail(const Status &status) {
  std::lock_guard<std::mutex> lock(records);
  if (failure.empty()) {
    if (member)
      member->fail(status);
    failure = causeOf(status);
  }
  return Status::error(failure);
}

Status Session::checkReady() {
  std::lock_guard<std::mutex> lock(records);
  if (!failure.empty())
    return Status::error("the session ended when a call failed: " + failure);
  if (!requestOf(nextTask()).isUnderWay)
    return Status::success();
  return Status::error(std::to_string(slots()) +
                       (slots() == 1 ? " step is" : " steps are") +
                       " under way, and the program has room for no more: "
                       "wait for the one that was submitted first");
}

/// The others have as long as waits for a rank may take, once rank 0 is done. A
/// rank 0 that is a worker waits for the others itself.
Status Session::awaitWorkers(uint32_t number, const Patience &patience) {
  if (!workers)
    return Status::success();
  World &world = *worlds.front();
  Waiter waiter(world.fabric.aborted(), options.timeoutSeconds, patience);
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

Status Session::awaitWorkers(uint32_t number) {
  return awaitWorkers(number, worlds.front()->spin ? Patience::ownCore()
                                                   : Patience::sharedCore());
}

/// Steps overlap those of their own entry alone: entries have their arenas in
/// common.
Status Session::tell(Task task, size_t entry, size_t index, uint32_t &number) {
  bool overlaps = entry == lastEntry && manifest(entry).stepsOverlap;
  if (!overlaps)
    APRT_TRY(awaitWorkers(board.next()));
  lastEntry = entry;
  number = board.next();
  board.slot(number).set(task, entry, int64_t(index));
  board.tell();
  return Status::success();
}

Status Session::have(Task task, size_t entry, size_t index) {
  uint32_t number = 0;
  APRT_TRY(tell(task, entry, index, number));
  if (member)
    APRT_TRY(member->follow(board, number));
  return awaitWorkers(number + 1);
}

/// Ends the ranks after the steps that nobody has waited for.
Status Session::endRanks() {
  if (!workers)
    return member->end();
  APRT_TRY(awaitWorkers(board.next()));
  return have(Task::End, 0, 0);
}

} // namespace autopar::runtime
