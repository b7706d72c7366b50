//===- Launcher.cpp - The processes of a run ------------------------------===//

#include "../core/Futex.h"
#include "Run.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace autopar::runtime {

namespace {

constexpr double graceSeconds = 3; // for ranks to end by themselves

class Launcher {
public:
  explicit Launcher(Run &run) : run(run), children(run.worldSize(), 0) {}
  int launch(std::string &message);

private:
  Status forkAll(const sigset_t &oldMask);
  /// Collects ended children; returns how many are still running.
  int collect();
  void died(int rank, int status);
  void killAll();

  Run &run;
  std::vector<pid_t> children; // 0: not running
  std::string death;           // message of a rank that left none
};

} // namespace

Status Launcher::forkAll(const sigset_t &oldMask) {
  pid_t parent = getpid();
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    pid_t child = fork();
    if (child < 0)
      return Status::error(std::string("cannot start a rank: ") +
                           std::strerror(errno));
    if (child > 0) {
      children[rank] = child;
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    sigprocmask(SIG_SETMASK, &oldMask, nullptr);
    _exit(runRank(run, rank) ? 0 : 1);
  }
  return Status::success();
}

void Launcher::died(int rank, int status) {
  RankRecord &record = run.record(rank);
  if (record.failed.load() || (record.finished.load() && WIFEXITED(status)))
    return;
  std::string how =
      WIFSIGNALED(status)
          ? "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                strsignal(WTERMSIG(status)) + ")"
          : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  int op = record.currentOp.load();
  std::string where = op < 0 ? std::string()
                             : std::string(" in or after op '") +
                                   run.program.manifest.opName(op) + "' (" +
                                   run.program.manifest.opKind(op) + ")";
  if (run.firstFailure().load() < 0)
    death = "rank " + std::to_string(rank) + " " + how + where;
  run.abort(rank);
}

int Launcher::collect() {
  int running = 0;
  for (size_t rank = 0; rank < children.size(); ++rank) {
    if (children[rank] == 0)
      continue;
    int status = 0;
    pid_t ended = waitpid(children[rank], &status, WNOHANG);
    if (ended == 0) {
      ++running;
      continue;
    }
    children[rank] = 0;
    if (ended > 0)
      died(int(rank), status);
  }
  return running;
}

void Launcher::killAll() {
  for (pid_t child : children)
    if (child > 0)
      kill(child, SIGKILL);
  for (pid_t &child : children) {
    if (child > 0)
      waitpid(child, nullptr, 0);
    child = 0;
  }
}

int Launcher::launch(std::string &message) {
  sigset_t mask, oldMask;
  sigemptyset(&mask);
  for (int number : {SIGCHLD, SIGINT, SIGTERM})
    sigaddset(&mask, number);
  sigprocmask(SIG_BLOCK, &mask, &oldMask);
  Status forked = forkAll(oldMask);
  if (forked.failed()) {
    killAll();
    message = forked.message();
    return 1;
  }
  double abortedAt = 0;
  while (collect() > 0) {
    timespec slice = {0, 100000000};
    int received = sigtimedwait(&mask, nullptr, &slice);
    if (received == SIGINT || received == SIGTERM) {
      killAll();
      message = std::string("ended by signal ") + strsignal(received);
      return 128 + received;
    }
    if (!run.fabric.aborted().load())
      continue;
    if (abortedAt == 0)
      abortedAt = monotonicSeconds();
    if (monotonicSeconds() - abortedAt > graceSeconds)
      killAll();
  }
  int first = run.firstFailure().load();
  if (first < 0)
    return 0;
  message = death.empty() ? run.record(first).message : death;
  return 1;
}

/// Ends the process at once: the single rank holds nothing worth keeping.
static void endBySignal(int number) { _exit(128 + number); }

int launchRanks(Run &run, std::string &message) {
  if (run.worldSize() > 1)
    return Launcher(run).launch(message);
  std::signal(SIGINT, endBySignal);
  std::signal(SIGTERM, endBySignal);
  if (runRank(run, 0))
    return 0;
  message = run.record(0).message;
  return 1;
}

} // namespace autopar::runtime
