//===- Worker.cpp - The processes of a session's ranks --------------------===//

#include "Worker.h"

#include "../core/MemoryGuard.h"
#include "Member.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace autopar::runtime {

namespace {
/// The process that forks the ranks, and each of these.
class WorkerMain {
public:
  /// Receives the setup and makes everything that the ranks share.
  Status prepare();
  Status forkRanks();
  /// Waits until all ranks have ended. Returns whether all succeeded.
  bool collect();
  void endWithOwner() const;

private:
  Status findPrograms();
  Status follow(int rank, Member &member);
  [[noreturn]] void beRank(int rank);

  WorkerSetup setup;
  int owner = -1; // a pidfd
  SharedMemory memory;
  std::vector<Program> programs;
  Worlds worlds; // of the programs
  Board board;
  std::vector<WeightFiles> weights; // of the programs
  std::vector<pid_t> children;      // by rank from the first one on; 0: ended
};
} // namespace

/// Finds the programs of the setup, which must be those that the session has
/// read.
Status WorkerMain::findPrograms() {
  APRT_TRY(loadOwnPrograms(programs));
  std::vector<uint64_t> found;
  for (size_t entry : setup.entries)
    found.push_back(entry < programs.size() ? programs[entry].checksum : 0);
  if (found.empty() || found != setup.checksums)
    return Status::error("the executable was replaced while the session was "
                         "opened: open it again");
  return keepPrograms(programs, setup.entries);
}

Status WorkerMain::prepare() {
  int descriptor = -1;
  APRT_TRY(receiveSetup(setup, descriptor, owner));
  memory.attach(descriptor);
  APRT_TRY(findPrograms());
  APRT_TRY(makeWorlds(programs, setup.options, memory, worlds));
  APRT_TRY(board.create(manifestsOf(worlds), memory));
  if (memory.size() != setup.bytes)
    return otherVersion();
  return openWeights(programs, setup.weights, weights);
}

Status WorkerMain::forkRanks() {
  pid_t parent = getpid();
  for (int rank = setup.first; rank < worlds.front()->worldSize(); ++rank) {
    pid_t child = fork();
    if (child < 0)
      return Status::error(std::string("cannot start a rank: ") +
                           std::strerror(errno));
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent)
        _exit(1);
      beRank(rank);
    }
    children.push_back(child);
  }
  return Status::success();
}

void WorkerMain::beRank(int rank) {
  Member member(worlds, rank);
  Status status = guardMemory("working", [&] { return follow(rank, member); });
  if (status.failed())
    member.fail(status);
  _exit(status.ok() ? 0 : 1);
}

/// Loading is the first that a rank has done, the board's tasks come after it.
Status WorkerMain::follow(int rank, Member &member) {
  APRT_TRY(member.load(std::move(weights), &board));
  board.done(rank).publish(1);
  Patience patience =
      worlds.front()->spin ? Patience::ownCore() : Patience::sharedCore();
  for (uint32_t number = 1;; ++number) {
    board.await(number, patience);
    Task task = board.slot(number).task();
    APRT_TRY(member.follow(board, number));
    board.done(rank).publish(number + 1);
    if (task == Task::End)
      return Status::success();
  }
}

/// Whatever is waited for, nothing outlives the owner: ranks end with this
/// process.
void WorkerMain::endWithOwner() const {
  std::thread([owner = owner] {
    pollfd wait = {owner, POLLIN, 0};
    while (poll(&wait, 1, -1) < 0)
      ;
    _exit(1);
  }).detach();
}

bool WorkerMain::collect() {
  bool well = true;
  int status = 0;
  for (pid_t child; (child = waitpid(-1, &status, 0)) > 0 || errno == EINTR;) {
    if (child <= 0)
      continue;
    size_t index = 0;
    while (index < children.size() && children[index] != child)
      ++index;
    int rank = setup.first + int(index);
    if (index == children.size() || status == 0)
      continue;
    well = false;
    if (World &world = *worlds.front(); !world.record(rank).failed.load())
      world.died(rank, howItEnded(status));
  }
  return well;
}

/// Reports a failure to the owner, or on stderr if the process was started
/// otherwise.
static int tell(const Status &status) {
  const std::string &text = status.message();
  if (send(workerSocket, text.data(), text.size(), MSG_NOSIGNAL) < 0)
    std::fprintf(stderr, "error: %s\n", text.c_str());
  return 1;
}

int runWorkers() {
  std::signal(SIGINT, SIG_IGN); // the owner's
  WorkerMain main;
  Status status = guardMemory("starting the ranks", [&] {
    APRT_TRY(main.prepare());
    return main.forkRanks();
  });
  if (status.failed())
    return tell(status);
  main.endWithOwner();
  return main.collect() ? 0 : 1;
}

} // namespace autopar::runtime
